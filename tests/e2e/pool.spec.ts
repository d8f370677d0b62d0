// SPDX-License-Identifier: GPL-2.0-or-later
/** Lanes of one run on two nodes of a real Slurm cluster: its way, a full queue, and the death of a node. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { ended, firstLine, OwnServer } from './server.ts';

const root = join(__dirname, '../..');
const python = join(root, '.venv/bin/python');
const server = new OwnServer('pool', { DUET_TEMPLATES_MIB: '0', DUET_POOL: 'slurm', DUET_POOL_KINDS: 'cpuA,cpuB', DUET_POOL_SPREAD: 'lanes' });
/** Guests of two nodes, the browser and the cluster share two cores. */
const runMs = 150_000;
const lesson = '/?lesson=02-grace-periods&step=ticks&arms=rwsem,srcu';

test.skip(process.getuid?.() !== 0, 'only root starts slurmd');

let cluster: ChildProcess;
let nodes: string[] = [];
let conf = '';
let base = '';

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, 'close');
  return port;
}

const slurm = (...words: string[]) =>
  execFileSync(words[0]!, words.slice(1), { env: { ...process.env, SLURM_CONF: conf } }).toString().trim();
/** Nodes of jobs that run, each once. */
const used = () => {
  const lists = slurm('squeue', '-h', '-t', 'R', '-o', '%N').split('\n').filter(Boolean);
  return lists.flatMap((list) => slurm('scontrol', 'show', 'hostnames', list).split('\n')).sort();
};

test.beforeAll(async () => {
  test.setTimeout(120_000);
  cluster = spawn(python, ['-m', 'tests.plugins.cluster.slurm_cluster'], { cwd: root, stdio: ['pipe', 'pipe', 'ignore'] });
  ({ conf, nodes } = await firstLine<{ conf: string; nodes: string[] }>(cluster));
  const port = `${await freePort()}`;
  const pool = { SLURM_CONF: conf, DUET_POOL_SERVER: `ws://127.0.0.1:${port}/hosts/join` };
  base = (await server.start([], port, pool)).url;
});

test.afterAll(async () => {
  await server.remove();
  await ended(cluster, () => cluster.stdin!.end());
});

async function bothAre(page: Page, phase: 'running' | 'done'): Promise<void> {
  for (const arm of ['rwsem', 'srcu'])
    await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', phase, { timeout: runMs });
}

async function starts(page: Page, seconds: number): Promise<void> {
  const field = page.getByTestId('knob-seconds').getByRole('spinbutton');
  if (!(await field.isVisible())) await page.getByTestId('more-knobs').click();
  await field.fill(`${seconds}`);
  await field.press('Tab');
  await page.getByTestId('run').click();
}

test('two lanes on two nodes, a full queue, and the death of a node', { tag: ['@guest', '@nightly'] }, async ({ browser }) => {
  test.setTimeout(4 * runMs);
  const opened = async () => {
    const page = await (await browser.newContext({ baseURL: base })).newPage();
    await page.goto(lesson);
    return page;
  };
  const ann = await opened();

  await test.step('each lane has a node of its own, of one kind', async () => {
    await starts(ann, 2);
    await bothAre(ann, 'done');
    await expect(ann.getByTestId('source')).toContainText('live');
    const kinds = [nodes.slice(0, 2), nodes.slice(2)];
    expect(kinds).toContainEqual(used());
    for (const arm of ['rwsem', 'srcu'])
      await expect(ann.getByTestId(`total-${arm}`)).toContainText(/[1-9]/);
  });

  await test.step('who comes when all nodes are taken sees why, with the recording', async () => {
    const taken = used();
    slurm('sbatch', '-N', '2', '--exclusive', '-o', '/dev/null', '--wrap', 'sleep 600');
    await expect.poll(() => used().length).toBe(4);
    expect(used()).toEqual(expect.arrayContaining(taken));
    await starts(ann, 60);
    await bothAre(ann, 'running');
    const bob = await opened();
    await starts(bob, 1);
    // One sentence, though the run's state has it as well.
    await expect(bob.getByTestId('error')).toContainText(/Slurm's hosts are busy/, { timeout: runMs });
    await expect(bob.getByTestId('error')).toContainText('Play the recording');
    slurm('scancel', '--name=wrap');
    await bob.context().close();
  });

  await test.step('a node that dies ends the run with its name; the next run is on others', async () => {
    const [dies] = used();
    cluster.stdin!.write(`${dies}\n`);
    const died = Date.now();
    await expect(ann.getByTestId('error').first()).toContainText(dies!, { timeout: 30_000 });
    console.log(`a node's death was on the page after ${Math.round((Date.now() - died) / 1000)} s`);
    await starts(ann, 1);
    await bothAre(ann, 'done');
    expect(used()).toHaveLength(2);
    expect(used()).not.toContain(dies);
  });
});
