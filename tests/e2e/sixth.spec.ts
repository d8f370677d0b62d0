// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson from two folders alone (tests/sixth): its recording, then live, on the general view. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@playwright/test';

/** Guests are emulated and share two cores with the browser. */
const runMs = 150_000;
const folder = mkdtempSync(join(tmpdir(), 'duet-e2e-sixth-'));
const env = {
  ...process.env,
  DUET_SETUP: 'skip',
  DUET_LESSONS: join(__dirname, '../sixth'),
  DUET_RUNS: join(folder, 'runs'),
};
let server: ChildProcess;
let address = '';

test.beforeAll(async () => {
  server = spawn(join(__dirname, '../../duet'), ['serve', '--port', '0', '--no-build', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: server.stdout! })) {
    address = (JSON.parse(line) as { readonly url: string }).url;
    break;
  }
});

test.afterAll(() => {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
});

test('a lesson from its two folders alone: its recording, a prediction, a live run, a claim', { tag: '@guest' }, async ({
  page,
}) => {
  test.setTimeout(2 * runMs);
  const step = (name: string) => new URL(`/?lesson=06-pipe-herd&step=${name}`, address).href;

  await test.step('the recording opens, and its sentence is the view’s', async () => {
    await page.goto(step('why'));
    await expect(page.getByTestId('source')).toContainText('recorded');
    await expect(page.getByTestId('sentence')).toContainText('wake');
    await expect(page.getByTestId('picture')).toBeVisible();
  });

  await test.step('the numbers behind the claim stand in the measured table', async () => {
    await page.goto(step('verdict'));
    await expect(page.getByTestId('measured')).toContainText('counted');
    await expect(page.getByTestId('measured')).toContainText('exclusive');
  });

  await test.step('live, both kernels, side by side; the prediction is answered by this run', async () => {
    await page.goto(step('herd'));
    await page.getByTestId('predict').getByRole('button', { name: 'five to nine' }).click();
    await page.getByTestId('run').click();
    for (const arm of ['wake-all', 'exclusive'])
      await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', 'done', { timeout: runMs });
    await expect(page.getByTestId('source')).toContainText('live');
    await expect(page.getByTestId('predict-truth')).toContainText(/(So far|In the whole run), traced, \d\.\d jobs on wake all for ten on exclusive/);
    await expect(page.getByTestId('sentence')).toContainText('exclusive');
  });
});
