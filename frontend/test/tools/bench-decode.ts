// SPDX-License-Identifier: GPL-2.0-or-later
/** How long a batch takes from bytes to columns, and a run from columns to an index. `npm run bench` */

import { encode } from '@msgpack/msgpack';
import { indexRun } from '../../src/derive/run-index.ts';
import { decodeMessage } from '../../src/protocol/decode.ts';
import type { BatchMessage } from '../../src/protocol/messages.ts';
import { Store } from '../../src/store/store.ts';
import { testLesson } from '../fixtures/lesson.ts';
import { syntheticRun } from '../fixtures/synthetic.ts';

const dtypes = { t0_ns: 'f8', t1_ns: 'f8', row: 'i4', kind: 'u1', cpu: 'i2', arg: 'f8', id: 'u4' };

function wire(batch: BatchMessage): Uint8Array {
  const columns = Object.fromEntries(
    Object.entries(batch.columns).map(([name, c]) => [
      name,
      new Uint8Array(c.buffer, c.byteOffset, c.byteLength),
    ]),
  );
  return encode({ ...batch, columns, dtypes });
}

function median(times: readonly number[]): string {
  return `${times.toSorted((a, b) => a - b)[times.length >> 1]!.toFixed(3)} ms`;
}

function timed(n: number, act: () => void): string {
  const times: number[] = [];
  for (let i = 0; i < n; i++) {
    const began = performance.now();
    act();
    times.push(performance.now() - began);
  }
  return median(times);
}

const run = syntheticRun({ hogs: 9, ms: 1000 });
const batches = run.filter((m): m is BatchMessage => m.type === 'batch' && m.table === 'spans');
const bytes = wire(batches[0]!);
const spans = batches.reduce((sum, b) => sum + b.n, 0);

console.log(
  `decode of a batch of ${batches[0]!.n} spans (${bytes.byteLength} bytes): ${timed(200, () => decodeMessage(bytes))}`,
);
console.log(
  `store and index of ${spans} spans: ${timed(5, () => {
    const store = new Store();
    store.lesson.set(testLesson);
    for (const message of run) store.dispatch(message);
    indexRun(store.shown()!, testLesson);
  })}`,
);
