// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * How many accesses a second the coherence model gets through, on one thread, the recording of every event included:
 *
 *   node tests/bench/coherence.mjs
 *
 * The target is 20 M accesses/s for the simulator (a merged log under a protocol). The schedules have rows of their own.
 */

import { interleave } from '../../lessons/05-cacheline-pingpong/view/model/interleave.ts';
import { simulate } from '../../lessons/05-cacheline-pingpong/view/model/coherence.ts';
import { statedSettings } from '../../lessons/05-cacheline-pingpong/view/model/stated.ts';
import { spreadOver } from '../../lessons/05-cacheline-pingpong/view/model/streams.ts';
import { statOf } from '../../lessons/05-cacheline-pingpong/view/fixtures/stat-stream.ts';

const accesses = 2_000_000;
const runs = 15;

function reported(what, n, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const rate = (ms) => (n / ms / 1000).toFixed(1);
  const [p50, worst] = [sorted[sorted.length >> 1], sorted.at(-1)];
  console.log(`${what}: p50 ${rate(p50)} M accesses/s, slowest ${rate(worst)}, n=${times.length}`);
}

function timed(act) {
  const times = [];
  let n = 0;
  for (let i = 0; i < runs + 2; i++) {
    const began = performance.now();
    n = act(i);
    if (i >= 2) times.push(performance.now() - began);
  }
  return [n, times];
}

for (const cpus of [2, 8, 20, 64]) {
  const stock = statOf('stock');
  const streams = spreadOver([stock], cpus, Math.ceil(accesses / cpus / stock.op.length));
  const random = { ...statedSettings, schedule: 'random' };
  const log = interleave(streams, random, 1);
  for (const protocol of ['MESI', 'MSI']) {
    reported(`simulate, ${protocol}, ${cpus} CPUs`, ...timed(() => simulate(log, protocol).log.length));
  }
  reported(`random order, ${cpus} CPUs`, ...timed((seed) => interleave(streams, random, seed).length));
  reported(`timed order, ${cpus} CPUs`, ...timed((seed) => interleave(streams, statedSettings, seed).length));
}
