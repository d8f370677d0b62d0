// SPDX-License-Identifier: GPL-2.0-or-later
/** A server of a test file's own: started, waited for, and ended with what it has stored. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const duet = join(__dirname, '../../duet');

/** What a server prints with --json once it listens. */
export interface Listening {
  readonly url: string;
  /** With --token-required: the page for each role. */
  readonly links: Readonly<Record<'viewer' | 'student' | 'instructor' | 'operator', string>>;
}

/** The first line that a process prints, which is JSON. */
export async function firstLine<Told>(of: ChildProcess): Promise<Told> {
  for await (const line of createInterface({ input: of.stdout! })) return JSON.parse(line) as Told;
  throw new Error('the process has ended without a line');
}

/** SIGTERM, or `end` where something else ends it; returns once it is gone. One that was never started is no fault. */
export async function ended(process: ChildProcess | undefined, end = (one: ChildProcess): unknown => one.kill('SIGTERM')): Promise<void> {
  if (!process || process.exitCode !== null || process.signalCode !== null) return;
  const gone = once(process, 'exit');
  end(process);
  await gone;
}

/** One server at a time over one folder of runs and classes, which is removed in the end. */
export class OwnServer {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  private process: ChildProcess | undefined;

  /** @param name tells the folders of test files apart. */
  constructor(name: string, env: NodeJS.ProcessEnv = {}) {
    this.folder = mkdtempSync(join(tmpdir(), `duet-e2e-${name}-`));
    this.env = { ...process.env, DUET_SETUP: 'skip', DUET_RUNS: join(this.folder, 'runs'), ...env };
  }

  /** @param port 0: any that is free. */
  async start(words: readonly string[], port = '0', env: NodeJS.ProcessEnv = {}): Promise<Listening> {
    this.process = spawn(duet, ['serve', '--port', port, '--no-build', '--json', ...words], {
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return firstLine(this.process);
  }

  /** It may be started again. */
  async end(): Promise<void> {
    await ended(this.process);
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
