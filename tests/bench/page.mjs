// SPDX-License-Identifier: GPL-2.0-or-later
/** A server and a browser for a benchmark of the page; both end with it, whatever happens. */

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const { chromium } = createRequire(new URL('../../frontend/package.json', import.meta.url))('@playwright/test');
const viewport = { width: 1600, height: 1000 };
const tries = 150;
const waitMs = 200;

async function up(base) {
  for (let i = 0; i < tries; i++) {
    const there = await fetch(`${base}/api/health`).then((r) => r.ok, () => false);
    if (there) return;
    await new Promise((done) => setTimeout(done, waitMs));
  }
  throw new Error(`the server did not come up within ${(tries * waitMs) / 1000} s`);
}

/** Calls `act` with the server's address and a function that opens a new page. */
export async function withPage(port, options, act) {
  const base = `http://127.0.0.1:${port}`;
  const server = spawn(
    new URL('../../duet', import.meta.url).pathname,
    ['serve', '--no-build', ...options, '--port', String(port)],
    { env: { ...process.env, DUET_SETUP: 'skip' }, stdio: 'ignore' },
  );
  try {
    await up(base);
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    });
    try {
      await act(base, () => browser.newPage({ viewport }));
    } finally {
      await browser.close();
    }
  } finally {
    server.kill('SIGTERM');
  }
}

/** The value below which so much of all lies. */
export function percentile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}
