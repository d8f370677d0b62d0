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

test('two live lanes move, hogs change, a killed guest is reported', { tag: '@guest' }, async ({ page, request }) => {
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

  await test.step('a killed QEMU is reported in a sentence, the other lane goes on', async () => {
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
test('a busy host is reported, and the count clock tells the story nevertheless', { tag: '@guest' }, async ({ page }) => {
  test.setTimeout(600_000);
  await page.goto('/?lesson=02-grace-periods&step=three-hogs');
  await page.getByTestId('predict').locator('.choice').first().click();
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
    await expect(page.getByTestId(`distorted-${arm}`)).toContainText('times distorted');
  await expect(page.getByTestId('predict-truth')).toContainText('Not judged on this run');

  await page.getByTestId('run-count').click();
  await expect(page.getByTestId('clock')).toContainText('count', { timeout: bootMs });
  await bothAre(page, 'done');
  await expect(page.getByTestId('contended')).toHaveCount(0);
  await expect(page.getByTestId('mismatch')).toHaveCount(0);
  await expect(page.getByTestId('count-note')).toContainText('This step runs six');
  await expect(page.getByTestId('value-hogs')).toContainText('6 hogs');
  const [rwsem, srcu] = [await count(page, 'rwsem'), await count(page, 'srcu')];
  expect(srcu).toBeGreaterThan(10);
  expect(srcu).toBeLessThan(rwsem / 2);
  await expect(page.getByTestId('predict-truth')).toContainText('Counted');
});

test('two viewers run live, a third keeps the recording, and none disturbs another', { tag: '@guest' }, async ({ browser }) => {
  test.setTimeout(240_000);
  const address = '/?lesson=02-grace-periods&step=ticks&arms=rwsem,srcu';
  const visitor = async () => (await browser.newContext()).newPage();
  const [ann, bob, eve] = [await visitor(), await visitor(), await visitor()];
  // Her link names a moment, so no prediction hides the stage, and none is to hide her own run.
  await ann.goto('/?lesson=02-grace-periods&step=three-hogs&at=20&from=10&for=30');
  await Promise.all([eve, bob].map((page) => page.goto(address)));
  for (const page of [eve, ann, bob])
    await expect(page.getByTestId('source')).toContainText('recorded');
  const recorded = await runOf(eve);

  await test.step('each starts another run of one lesson', async () => {
    await startOnly(ann, 'SRCU');
    await startOnly(bob, 'rwsem');
    await expect(ann.getByTestId('source')).toContainText('live', { timeout: bootMs });
    await expect(bob.getByTestId('source')).toContainText('live', { timeout: bootMs });
  });
  await expect(ann.getByTestId('veil')).toHaveCount(0);
  const [hers, his] = [await runOf(ann), await runOf(bob)];
  expect(new Set([hers, his, recorded]).size).toBe(3);

  await test.step('the third sees that they exist, and is moved nowhere', async () => {
    await expect(eve.getByTestId('watch')).toHaveCount(2);
    await eve.getByRole('button', { name: /^next/i }).first().click();
    await expect(eve.getByTestId('source')).toContainText('recorded');
    await eve.goto(address);
    await expect(eve.getByTestId('source')).toContainText('recorded');
    await expect.poll(() => runOf(eve)).toBe(recorded);
  });

  await test.step('he may watch one, by a link that is the saved run’s, and controls it only by asking', async () => {
    await eve.getByTestId('watch').last().click();
    await expect.poll(() => runOf(eve), { timeout: 20_000 }).toBe(his);
    expect(his).toMatch(/^kept:02-grace-periods:run-/);
    await expect(eve.getByTestId('control')).toContainText('watching');
    await expect(bob.getByTestId('control')).toContainText('you control');
    await eve.getByTestId('unwatch').click();
    await expect.poll(() => runOf(eve)).toBe(recorded);
  });

  await test.step('each ends his own, and the other goes on', async () => {
    await ann.getByTestId('stop').click();
    await expect(ann.getByTestId('source')).toContainText('stopped', { timeout: bootMs });
    await expect(bob.getByTestId('lane-rwsem')).toHaveAttribute('data-phase', 'running');
    await bob.getByTestId('stop').click();
    await expect(bob.getByTestId('source')).toContainText('stopped', { timeout: bootMs });
    expect([await runOf(ann), await runOf(bob)]).toEqual([hers, his]);
    await expect(eve.getByTestId('live-runs')).toHaveCount(0);
    expect(await runOf(eve)).toBe(recorded);
  });

  await test.step('a link to the run opens it later', async () => {
    await eve.goto(`${address}&run=${hers}`);
    await expect.poll(() => runOf(eve), { timeout: 20_000 }).toBe(hers);
  });
});

/** The id of the run on the stage. */
async function runOf(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    interface Duet {
      readonly index: () => { runId: string } | null;
    }
    return (window as unknown as { duet?: Duet }).duet?.index()?.runId;
  });
}

/** A run of one arm of the step's two, long enough that the test ends it. */
async function startOnly(page: Page, arm: 'rwsem' | 'SRCU'): Promise<void> {
  await page.getByTestId('more-knobs').click();
  const panel = page.getByTestId('knob-panel');
  const other = arm === 'SRCU' ? /^rwsem(?!,| at)/ : /^SRCU(?!,| expedited| delayed| at)/;
  await panel.getByRole('checkbox', { name: other }).uncheck();
  await page.getByTestId('knob-seconds').getByRole('spinbutton').fill('60');
  await page.getByTestId('more-knobs').click();
  await page.getByTestId('run').click();
}
