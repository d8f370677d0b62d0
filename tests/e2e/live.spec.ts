// SPDX-License-Identifier: GPL-2.0-or-later
/** Real guests, real browser: start, watch, turn the knob, lose a guest. */

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { kill } from 'node:process';
import { expect, type Page, test } from '@playwright/test';

/** Guests are emulated and share two cores with the browser. */
const bootMs = 150_000;

async function count(page: Page, arm: string): Promise<number> {
  const text = (await page.getByTestId(`total-${arm}`).textContent()) ?? '';
  const digits = text.replace(/\D/g, '');
  return digits === '' ? 0 : Number(digits);
}

async function bothAre(page: Page, phase: 'running' | 'done'): Promise<void> {
  for (const arm of ['rwsem', 'srcu'])
    await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', phase, {
      timeout: bootMs,
    });
}

/** Emulated guests on a host with other work. */
const motionMs = 150_000;

/** From a click on run to the first frame in which the new run moves, ms. */
async function clickToMotion(page: Page): Promise<number> {
  return page.evaluate(async (limitMs) => {
    interface Duet {
      readonly index: () => { runId: string; lanes: { spans: { length: number } }[] } | null;
      readonly player: { state: { mode: string; moment: number } };
    }
    const duet = () => (window as unknown as { duet: Duet }).duet;
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const before = duet().index()?.runId;
    const began = performance.now();
    document.querySelector<HTMLElement>('[data-testid="run"]')!.click();
    for (;;) {
      await frame();
      const index = duet().index();
      const events = index?.lanes.some((lane) => lane.spans.length > 0) ?? false;
      if (index?.runId !== before && events) {
        const { moment } = duet().player.state;
        await frame();
        if (duet().player.state.moment !== moment) return performance.now() - began;
      }
      if (performance.now() - began > limitMs) return Number.POSITIVE_INFINITY;
    }
  }, motionMs);
}

test('two live lanes move, hogs change, a killed guest is told', { tag: '@guest' }, async ({ page, request }) => {
  test.setTimeout(600_000);
  await page.goto('/?lesson=02-grace-periods&step=ticks&arms=rwsem,srcu');
  await expect(page.getByTestId('value-hogs')).toContainText('9');
  const bootedMs = await clickToMotion(page);

  await test.step('both lanes move, and end', async () => {
    await expect.poll(() => count(page, 'srcu'), { timeout: 90_000 }).toBeGreaterThan(0);
    await expect.poll(() => count(page, 'rwsem'), { timeout: 90_000 }).toBeGreaterThan(0);
    await bothAre(page, 'done');
  });

  await test.step('fewer hogs, the same guests', async () => {
    await page.getByTestId('knob-hogs').getByRole('button', { name: /fewer/i }).click();
    await expect(page.getByTestId('value-hogs')).toContainText('8');
    const ms = await clickToMotion(page);
    console.log(
      `click on run to the first animated event: ${Math.round(ms)} ms, with a boot ${Math.round(bootedMs)} ms`,
    );
    expect(ms).toBeLessThan(bootedMs);
    await bothAre(page, 'running');
  });

  await test.step('a killed QEMU is told in a sentence, the other lane goes on', async () => {
    const health = await (await request.get('/api/health')).json();
    const lane = health.lanes.find((l: { arm: string }) => l.arm === 'srcu');
    kill(lane.pid, 'SIGKILL');
    await expect(page.getByTestId('error-srcu')).toContainText(/QEMU/, { timeout: 90_000 });
    await expect(page.getByTestId('lane-rwsem')).toHaveAttribute('data-phase', 'done', {
      timeout: bootMs,
    });
  });
});

// Lanes that run at once on the wall clock take each other's CPU: who is ahead there depends on the host.
// On the count clock it does not.
test('a busy host is told, and the count clock tells the story nevertheless', { tag: '@guest' }, async ({ page }) => {
  test.setTimeout(600_000);
  await page.goto('/?lesson=02-grace-periods&step=three-hogs');
  await page.getByTestId('predict').getByRole('button').first().click();
  await page.getByTestId('more-knobs').click();
  await page.getByTestId('knob-seconds').getByRole('spinbutton').fill('1');
  const hogs = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn('sh', ['-c', 'while :; do :; done']),
  );
  try {
    await page.getByTestId('run').click();
    await bothAre(page, 'done');
  } finally {
    for (const hog of hogs) hog.kill('SIGKILL');
  }
  await expect(page.getByTestId('contended')).toContainText('The host was busy');
  for (const arm of ['rwsem', 'srcu'])
    await expect(page.getByTestId(`distorted-${arm}`)).toContainText('shapes distorted');
  await expect(page.getByTestId('predict-truth')).toContainText('Not judged on this run');

  await page.getByTestId('run-count').click();
  await expect(page.getByTestId('clock')).toContainText('count', { timeout: bootMs });
  await bothAre(page, 'done');
  await expect(page.getByTestId('contended')).toHaveCount(0);
  await expect(page.getByTestId('mismatch')).toHaveCount(0);
  await expect(page.getByTestId('count-note')).toContainText('this step runs six');
  await expect(page.getByTestId('value-hogs')).toContainText('6 hogs');
  const [rwsem, srcu] = [await count(page, 'rwsem'), await count(page, 'srcu')];
  expect(srcu).toBeGreaterThan(10);
  expect(srcu).toBeLessThan(rwsem / 2);
  await expect(page.getByTestId('predict-truth')).toContainText('Counted');
});
