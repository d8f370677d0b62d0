// SPDX-License-Identifier: GPL-2.0-or-later
/** Browser tests against the real server: recordings, and live guests under QEMU. */

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const port = Number(process.env['DUET_E2E_PORT'] ?? 8651);
/** A second server whose guests have ring buffers of one page per CPU, so that events are really lost. */
export const lossPort = port + 1;
/** A third one, whose guests are switched off. */
export const offlinePort = port + 2;
const chromium = '/usr/bin/chromium';
if (!existsSync(chromium)) throw new Error('Chromium was wanted at /usr/bin/chromium: run ./setup.sh dev.');

export default defineConfig({
  testDir: '.',
  // Recordings first. Tests with the tag @guest boot guests.
  projects: [
    { name: 'recorded', testMatch: 'recorded.spec.ts' },
    { name: 'access', testMatch: /(access|entry|editor|reading|stage|lang)\.spec\.ts/ },
    // A server of the test's own that asks for tokens.
    { name: 'roles', testMatch: 'roles.spec.ts' },
    // A server of the test's own, which is started anew in the middle of a class.
    { name: 'class', testMatch: /class(-board)?\.spec\.ts/ },
    // A server of the test's own, with a lab.
    { name: 'lab', testMatch: 'lab.spec.ts' },
    { name: 'offline', testMatch: 'offline.spec.ts' },
    // An exported folder, from a plain web server of the test's own and from file://; stills of a served page.
    { name: 'site', testMatch: /(site|still|share|grid)\.spec\.ts/ },
    // These share nothing: the last ones go on where a worker is free.
    { name: 'timemachine', fullyParallel: true, testMatch: /(timemachine|beside|window|toys|present|story|painted)\.spec\.ts/ },
    { name: 'live', testMatch: /(live|tries|pool)\.spec\.ts/ },
    // Each lesson with a picture, end to end on live guests.
    { name: 'lessons', testMatch: /lesson-\d+\.spec\.ts/ },
    // A lesson of the tests, from two folders alone, on a server of the test's own.
    { name: 'sixth', testMatch: 'sixth.spec.ts' },
    // A patch that is changed on the page.
    { name: 'change', testMatch: 'change.spec.ts' },
    { name: 'loss', testMatch: 'loss.spec.ts' },
  ],
  outputDir: '../../test-results',
  // Lanes share the machine with the browser: one test at a time. `make test-e2e` gives those without guests three.
  workers: 1,
  retries: 0,
  // Guards against hanging: on a busy host everything may take ten times as long.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: [['line']],
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: chromium,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
  webServer: [
    server(port, {}),
    server(lossPort, { DUET_BUFFER_KB: '4' }),
    server(offlinePort, {}, '--no-guests'),
  ],
});

function server(at: number, env: Record<string, string>, more = '') {
  return {
    // What an earlier checkout left there may be of another format.
    command: `rm -rf "$DUET_RUNS" "$DUET_RUNS"-* && exec ../../duet serve --port ${at} ${more}`,
    url: `http://127.0.0.1:${at}/api/health`,
    env: { DUET_SETUP: 'skip', DUET_LIVE_RUNS: '2', DUET_RUNS: join(tmpdir(), `duet-e2e-runs-${at}`), ...env },
    timeout: 300_000,
    reuseExistingServer: false,
    gracefulShutdown: { signal: 'SIGTERM' as const, timeout: 10_000 },
  };
}
