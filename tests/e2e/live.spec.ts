// SPDX-License-Identifier: GPL-2.0-or-later
/** Real guests, real browser: start, watch, turn the knob, lose a guest. */

import { kill } from 'node:process';
import { expect, type Page, test } from '@playwright/test';

/** Guests are emulated and share two cores with the browser. */
const bootMs = 60_000;

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

async function start(page: Page): Promise<void> {
  await page.getByTestId('run').click();
  await bothAre(page, 'running');
}

/** From a click on run to the first frame in which the new run moves, ms. */
async function clickToMotion(page: Page): Promise<number> {
  return page.evaluate(async () => {
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
      if (performance.now() - began > 30_000) return Number.POSITIVE_INFINITY;
    }
  });
}

test('two live lanes move, hogs change, a killed guest is told', { tag: '@guest' }, async ({ page, request }) => {
  test.setTimeout(240_000);
  await page.goto('/?lesson=02-grace-periods&step=ticks&arms=rwsem,srcu');
  await expect(page.getByTestId('value-hogs')).toContainText('9');
  await start(page);

  await test.step('both lanes move, and end', async () => {
    await expect.poll(() => count(page, 'srcu'), { timeout: 20_000 }).toBeGreaterThan(0);
    await expect.poll(() => count(page, 'rwsem'), { timeout: 20_000 }).toBeGreaterThan(0);
    await bothAre(page, 'done');
  });

  await test.step('fewer hogs, the same guests', async () => {
    await page.getByTestId('knob-hogs').getByRole('button', { name: /fewer/i }).click();
    await expect(page.getByTestId('value-hogs')).toContainText('8');
    const ms = await clickToMotion(page);
    console.log(`click on run to the first animated event, guests up: ${Math.round(ms)} ms`);
    expect(ms).toBeLessThan(4000);
    await bothAre(page, 'running');
  });

  await test.step('a killed QEMU is told in a sentence, the other lane goes on', async () => {
    const health = await (await request.get('/api/health')).json();
    const lane = health.lanes.find((l: { arm: string }) => l.arm === 'srcu');
    kill(lane.pid, 'SIGKILL');
    await expect(page.getByTestId('error-srcu')).toContainText(/QEMU/, { timeout: 20_000 });
    await expect(page.getByTestId('lane-rwsem')).toHaveAttribute('data-phase', 'done', {
      timeout: bootMs,
    });
  });
});

// Lanes that run at once on the wall clock take each other's CPU: who is ahead there depends on the host.
// On the count clock it does not.
test('on the count clock SRCU falls behind', { tag: '@guest' }, async ({ page }) => {
  test.setTimeout(180_000);
  await page.goto('/?lesson=02-grace-periods&step=ticks&arms=rwsem,srcu');
  await page.getByTestId('more-knobs').click();
  await page.getByRole('group', { name: 'clock' }).getByRole('button', { name: 'count' }).click();
  await page.getByTestId('knob-seconds').getByRole('spinbutton').fill('1');
  await page.getByTestId('run').click();
  await expect(page.getByTestId('clock')).toContainText('count', { timeout: bootMs });
  await bothAre(page, 'done');
  const [rwsem, srcu] = [await count(page, 'rwsem'), await count(page, 'srcu')];
  expect(srcu).toBeGreaterThan(10);
  expect(srcu).toBeLessThan(rwsem / 2);
});
