// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A browser that is asked as little as can be. Playwright listens to the network of its pages, and gets every
 * message of a socket as text, which 23 MB of them would pay for.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const upMs = 30_000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Calls `act` with a function that opens an address and asks an expression until it is true; the answer comes back. */
export async function withBareBrowser(act) {
  const home = mkdtempSync(join(tmpdir(), 'duet-bare-'));
  const browser = spawn(
    '/usr/bin/chromium',
    ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${home}`, '--window-size=1600,1000', 'about:blank'],
    { stdio: 'ignore' },
  );
  const ended = new Promise((done) => browser.once('exit', done));
  try {
    const reported = join(home, 'DevToolsActivePort');
    for (let waited = 0; !existsSync(reported); waited += 100) {
      if (waited > upMs) throw new Error(`the browser did not come up within ${upMs / 1000} s`);
      await sleep(100);
    }
    const at = `http://127.0.0.1:${readFileSync(reported, 'utf8').split('\n')[0]}/json`;
    await act((url, expression, limitMs) => visit(at, url, expression, limitMs));
  } finally {
    browser.kill('SIGTERM');
    await ended;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function visit(at, url, expression, limitMs) {
  const target = await (await fetch(`${at}/new?about:blank`, { method: 'PUT' })).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((done, fail) => {
    socket.onopen = done;
    socket.onerror = fail;
  });
  let number = 0;
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const answer = JSON.parse(data);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  };
  const say = (method, params) =>
    new Promise((done) => {
      waiting.set(++number, done);
      socket.send(JSON.stringify({ id: number, method, params }));
    });
  try {
    await say('Page.navigate', { url });
    const began = performance.now();
    for (;;) {
      const answer = await say('Runtime.evaluate', { expression, returnByValue: true });
      const value = answer.result?.result?.value;
      if (value) return value;
      if (performance.now() - began > limitMs) throw new Error(`${url} was not ready within ${limitMs / 1000} s`);
      await sleep(15);
    }
  } finally {
    await fetch(`${at}/close/${target.id}`);
    socket.close();
  }
}
