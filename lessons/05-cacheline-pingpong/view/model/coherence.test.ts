// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, test } from 'vitest';
import { type Layout, statOf, streamOf } from '../fixtures/stat-stream.ts';
import {
  hit,
  LineStates,
  type MergedLog,
  modifies,
  nobody,
  type Protocol,
  readFetch,
  reads,
  readTransfer,
  type Settings,
  simulate,
  stateAfter,
  stateNames,
  upgrade,
  writeFetch,
  writes,
  writeTransfer,
} from './coherence.ts';
import { interleave } from './interleave.ts';
import { statedSettings } from './stated.ts';
import {
  endsOperation,
  gather,
  owningLoads,
  repeated,
  spreadOver,
  wholeOperations,
} from './streams.ts';

const random: Settings = { ...statedSettings, schedule: 'random' };

/** Accesses to one line as (CPU, class), and what the copies of `cpus` CPUs are after each. */
function follow(protocol: Protocol, cpus: number, accesses: readonly [number, number][]) {
  const states = new LineStates(1, protocol);
  return accesses.map(([cpu, kind]) => {
    const event = states.access(cpu, 0, kind);
    const copies = Array.from({ length: cpus }, (_, c) => stateNames[states.state(c, 0)]).join('');
    return [event, states.from, states.lost, copies];
  });
}

describe('protocol', () => {
  test('MESI: alone, shared, upgraded, taken', () => {
    const steps: [number, number][] = [[0, reads], [0, writes], [1, reads], [0, reads], [1, modifies], [0, modifies]]; // biome-ignore format: a story
    expect(follow('MESI', 2, steps)).toEqual([
      [readFetch, nobody, 0, 'EI'],
      [hit, nobody, 0, 'MI'],
      [readTransfer, 0, 0, 'SS'],
      [hit, nobody, 0, 'SS'],
      [upgrade, nobody, 1, 'IM'],
      [writeTransfer, 1, 1, 'MI'],
    ]);
  });

  test('MSI has no E: who reads alone pays for the write', () => {
    const steps: [number, number][] = [[0, reads], [0, writes]]; // biome-ignore format: a story
    expect(follow('MSI', 1, steps)).toEqual([
      [readFetch, nobody, 0, 'S'],
      [upgrade, nobody, 0, 'M'],
    ]);
    expect(follow('MESI', 1, [[0, writes]])).toEqual([[writeFetch, nobody, 0, 'M']]);
  });

  test('a write takes every copy, also those of CPUs 32 and up', () => {
    const readers = Array.from({ length: 64 }, (_, c): [number, number] => [c, reads]);
    const last = follow('MESI', 64, [...readers, [40, writes]]).at(-1)!;
    expect(last).toEqual([upgrade, nobody, 63, `${'I'.repeat(40)}M${'I'.repeat(23)}`]);
    expect(follow('MESI', 64, [...readers, [63, reads], [0, writes]]).at(-1)![2]).toBe(63);
  });

  test('who got the line last gives it', () => {
    const steps: [number, number][] = [[3, writes], [1, reads], [0, reads], [2, reads]]; // biome-ignore format: a story
    expect(follow('MESI', 4, steps).map(([, from]) => from)).toEqual([nobody, 3, 1, 0]);
  });
});

test('the state at any access is the one that was passed through', () => {
  const log = interleave(spreadOver([statOf('stock')], 5, 60), random, 3);
  const trace = simulate(log, 'MESI');
  expect(trace.keys.length).toBeGreaterThan(4);
  const states = new LineStates(log.lines, 'MESI');
  for (let k = 0; k <= log.length; k++) {
    if (k % 97 === 0 || k === log.length || k % 1024 < 2) {
      const at = stateAfter(trace, k);
      for (let c = 0; c < 5; c++) {
        for (let l = 0; l < log.lines; l++) expect(at.state(c, l)).toBe(states.state(c, l));
      }
    }
    if (k < log.length) states.access(log.cpu[k]!, log.line[k]!, log.kind[k]!);
  }
});

test('nothing is lost in an order: each stream, in its own order, to its end', () => {
  const streams = [statOf('stock'), repeated(statOf('moved'), 3), streamOf([[0, writes]])];
  for (const schedule of ['random', 'timed'] as const) {
    const log = interleave(streams, { ...statedSettings, schedule }, 11);
    streams.forEach((stream, c) => {
      const mine = Array.from(log.cpu.keys()).filter((k) => log.cpu[k] === c);
      expect(mine.map((k) => log.index[k])).toEqual([...stream.op.keys()]);
      expect(mine.map((k) => log.line[k])).toEqual([...stream.line]);
    });
    expect(log.ops).toBe(5);
    expect(interleave(streams, { ...statedSettings, schedule }, 11)).toEqual(log);
    expect(interleave(streams, { ...statedSettings, schedule }, 12).cpu).not.toEqual(log.cpu);
  }
});

const events = (log: MergedLog, protocol: Protocol = 'MESI') => {
  const { busEvents, transfers, ops } = simulate(log, protocol).totals;
  return [busEvents / ops, transfers / ops] as const;
};

describe('random order, beside reference figures of bus events per stat', () => {
  /*
   * The reference had a name read, a get and a put of a load and a CAS each, and one access to a line that nobody
   * writes before each of the three: with exactly these eight accesses its figures come out.
   */
  const eight = (lock: number) =>
    streamOf([[0, reads], [1, reads], [0, reads], [lock, reads], [lock, modifies], [0, reads], [lock, reads], [lock, modifies]]); // biome-ignore format: one stat
  test.each([
    ['stock', 1, 2, 3.02],
    ['stock', 1, 4, 4.13],
    ['stock', 1, 8, 4.66],
    ['moved', 2, 2, 2.74],
    ['moved', 2, 4, 3.58],
    ['moved', 2, 8, 3.87],
  ] as const)('%s, %i: %i CPUs', (_, lock, cpus, wanted) => {
    const log = interleave(spreadOver([eight(lock)], cpus, 4000), random, 1);
    expect(Math.abs(events(log)[0] - wanted)).toBeLessThan(0.04);
  });

  /* All 21 accesses that were counted: two reads of the name's line, and more steps in which others may come between. */
  test.each([
    ['stock', 2, 3.5],
    ['stock', 4, 4.75],
    ['stock', 8, 5.31],
    ['moved', 2, 2.97],
    ['moved', 4, 3.77],
    ['moved', 8, 3.96],
  ] as const)('%s as counted, %i CPUs', (layout, cpus, wanted) => {
    const log = interleave(spreadOver([statOf(layout)], cpus, 3000), random, 1);
    expect(Math.abs(events(log)[0] - wanted)).toBeLessThan(0.04);
  });

  test('one CPU meets nobody; a name of one word saves what the move saves', () => {
    for (const layout of ['stock', 'moved'] as const) {
      const log = interleave(spreadOver([statOf(layout)], 1, 500), random, 1);
      expect(events(log)).toEqual([simulate(log, 'MESI').totals.fetches / 500, 0]);
    }
    const short = [[0, reads], [0, reads], [1, reads], [1, modifies], [0, reads], [1, reads], [1, modifies]] as const; // biome-ignore format: one stat
    const stock = interleave(spreadOver([streamOf(short)], 4, 4000), random, 1);
    const moved = interleave(spreadOver([streamOf(short.map(([l, k]) => [l * 2, k]))], 4, 4000), random, 1); // biome-ignore format: one line
    expect(events(stock)).toEqual(events(moved));
  });
});

describe('timed order', () => {
  const round: Settings = {
    protocol: 'MESI',
    schedule: 'timed',
    latencies: { hitNs: 1, transferNs: 100, upgradeNs: 60, ownNs: 0 },
    jitter: 0,
    handover: 0.5,
  };

  test('one CPU pays a fetch and then hits', () => {
    const log = interleave([streamOf([[0, reads], [0, writes], [0, reads]])], round, 1); // biome-ignore format: one stream
    expect(log.endNs).toBe(102);
  });

  test('a line serves one request at a time, the lower CPU first', () => {
    const log = interleave(new Array(4).fill(streamOf([[0, writes]])), round, 1);
    expect([...log.cpu]).toEqual([0, 1, 2, 3]);
    expect(log.endNs).toBe(400);
  });

  test('different lines do not wait for each other', () => {
    const log = interleave([streamOf([[0, writes]]), streamOf([[1, writes]])], round, 1);
    expect(log.endNs).toBe(100);
  });

  test('the holder may use a line until the request has reached it', () => {
    const long = streamOf([[0, writes], ...Array.from({ length: 80 }, () => [0, writes] as const)]);
    const log = interleave([long, streamOf([[0, writes]])], round, 1);
    // CPU 0 has it from 100 on, CPU 1 takes it at 150: 51 hits of 1 ns begin until then.
    expect(log.cpu.indexOf(1)).toBe(52);
    const { event } = simulate(log, 'MESI');
    expect(event.filter((e) => e === writeTransfer)).toHaveLength(2);
  });

  test('a copy that was lost in the queue has to be brought', () => {
    const both = streamOf([[0, reads], [0, modifies]]); // biome-ignore format: one stream
    const log = interleave([both, both, both], round, 1);
    const { totals } = simulate(log, 'MESI');
    // CPU 0 is alone at first. CPU 1 upgrades at 330, which takes the copy with which CPU 2 waits.
    expect([totals.fetches, totals.hits, totals.readTransfers]).toEqual([1, 1, 2]);
    expect([totals.upgrades, totals.writeTransfers]).toEqual([1, 1]);
    expect(log.endNs).toBe(460);
  });

  test('private work takes its time, where the stream says', () => {
    const settings = { ...round, latencies: { ...round.latencies, ownNs: 1000 } };
    const stream = repeated(
      streamOf([
        [0, reads],
        [0, reads],
      ]),
      5,
    );
    const log = interleave([stream], settings, 1);
    expect(log.endNs! - 5000 - 100 - 9).toBeGreaterThanOrEqual(0); // the random start
    expect(log.endNs! - 5000 - 100 - 9).toBeLessThan(1000);
  });
});

test('whole operations, repeated, for as many CPUs as are wanted', () => {
  const stream = { ...streamOf(Array.from({ length: 6 }, (_, i) => [i, reads] as const)), op: Uint32Array.of(7, 8, 8, 0, 9, 10) }; // biome-ignore format: one stream
  const whole = wholeOperations(stream);
  expect([...whole.line]).toEqual([1, 2, 4]);
  expect([...repeated(whole, 3).line]).toEqual([1, 2, 4, 1, 2]);
  expect([...repeated(whole, 3).op]).toEqual([1, 1, 2, 3, 3]);
  expect(spreadOver([whole, stream], 5, 2)).toHaveLength(5);
  expect(() => spreadOver([whole], 65, 1)).toThrow('from 1 to 64');
  expect(() => repeated(streamOf([]), 1)).toThrow('without an operation');
  expect(gather([whole], 5, new Uint8Array(2), null).ops).toBe(1);
  expect(endsOperation(whole, 0)).toBe(false);
});

test('loads that lead to a read-modify-write may ask for ownership; others may not', () => {
  const task = (layout: Layout) => owningLoads(statOf(layout)).kind.filter((k) => k === modifies);
  expect(task('stock')).toHaveLength(4);
  expect(task('moved')).toHaveLength(4);
});
