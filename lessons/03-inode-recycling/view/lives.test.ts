// SPDX-License-Identifier: GPL-2.0-or-later
/** Lives, shadows, queues and counts out of points that were written by hand. */

import type { RunIndex } from '@page/derive/types.ts';
import { expect, test } from 'vitest';
import { inodeIndex, inodeLesson, us } from './fixtures/inodes.ts';
import { lifeOf, rowsOf } from './layout.ts';
import {
  agesIn,
  dangerEnd,
  endangered,
  graceAfter,
  lifeAt,
  livesIn,
  never,
  populationAt,
  type Step,
  stateAt,
  stepAt,
  tallyOf,
} from './lives.ts';

/** Inode 7: its second life begins inside the shadow of the first, the third after that of the second. */
const round = `
  stock
  10 fresh 7
  50 unlinked 0 7
  55 queued 7 1
  60 batch 1
  65 inactivated 7
  70 batch_done 1
  80 reuse 7 0
  200 queued 7 1
  210 batch 1
  220 inactivated 7
  225 batch_done 1
  400 reuse 7 1
  gp 30 40
  gp 58 100
  gp 150 180
  gp 240 300
`;

function laneOf(index: RunIndex) {
  const lane = index.lanes[0]!;
  return { lane, ...lifeOf(index, lane, inodeLesson) };
}

test('an inode goes round: alive, queued, free, alive', () => {
  const { lives } = laneOf(inodeIndex(round));
  const [first, second, third] = lives.byIno.get(7)!;
  expect([5, 30, 55, 65, 79, 80].map((t) => stateAt(first!, t * us))).toEqual([
    ...['none', 'alive', 'queued', 'free', 'free', 'none'],
  ]);
  expect(first).toMatchObject({ unlinked: 50 * us, next: 80 * us, nextEarly: true });
  expect(second).toMatchObject({ born: 80 * us, early: true, before: first });
  expect(third).toMatchObject({ born: 400 * us, early: false, queued: never });
});

test('a shadow ends with the first grace period that began after the letting go', () => {
  const { lives } = laneOf(inodeIndex(round));
  const [first, second] = lives.byIno.get(7)!;
  expect(first!.shadowEnd).toBe(100 * us);
  // The one that began at 150 was under way already: it proves nothing.
  expect(second!.shadowEnd).toBe(300 * us);
  expect(graceAfter(lives.graces, 250 * us)).toBe(never);
});

test('danger lasts from the early reuse to the end of the old shadow, and not where the shadow was over', () => {
  const { lives } = laneOf(inodeIndex(round));
  const [first, second, third] = lives.byIno.get(7)!;
  expect(dangerEnd(second!)).toBe(100 * us);
  expect([79, 80, 99, 100].map((t) => endangered(second!, t * us))).toEqual([
    ...[false, true, true, false],
  ]);
  expect(endangered(first!, 30 * us)).toBe(false);
  expect(endangered(third!, 401 * us)).toBe(false);
});

test('what the picture calls early is what the kernel called early', () => {
  const { lives } = laneOf(inodeIndex(round));
  for (const life of lives.all)
    if (life.before !== null) expect(life.born < life.before.shadowEnd).toBe(life.early);
});

test('if the kernel does not report whether a reuse is early, the grace periods tell it', () => {
  const told = laneOf(inodeIndex(round));
  const { lane, lives } = laneOf(inodeIndex(round.replaceAll(/reuse 7 [01]/g, 'reuse 7 2')));
  const early = (of: typeof lives) => of.byIno.get(7)!.map((one) => [one.early, one.nextEarly]);
  expect(early(lives)).toEqual(early(told.lives));
  expect(tallyOf(lane, lives, 500 * us)).toEqual(tallyOf(told.lane, told.lives, 500 * us));
  expect(tallyOf(lane, lives, 79 * us)).toMatchObject({ reused: 0, early: 0 });
  expect(tallyOf(lane, lives, 500 * us, 81 * us)).toMatchObject({ reused: 1, early: 0 });
});

test('without a report, a reuse with no later grace period is early, and one with no known release is not', () => {
  const { lives } = laneOf(
    inodeIndex('today\n 10 reuse 5 2\n 20 queued 7 0\n 30 reuse 7 2\n gp 5 15'),
  );
  expect(lifeAt(lives, 5, 10 * us)).toMatchObject({ early: false });
  expect(lifeAt(lives, 7, 30 * us)).toMatchObject({ early: true });
});

test('an inode that is queued without having been seen was alive all the time', () => {
  const { lives } = laneOf(inodeIndex('stock\n 50 queued 9 1\n 60 inactivated 9'));
  expect(stateAt(lifeAt(lives, 9, 10 * us)!, 10 * us)).toBe('alive');
  expect(populationAt(lives, 55 * us).queued.map((life) => life.ino)).toEqual([9]);
});

test('an inode that becomes free without having been queued is none of ours', () => {
  const { lane, lives } = laneOf(inodeIndex('stock\n 10 fresh 3\n 50 inactivated 3'));
  expect(tallyOf(lane, lives, 100 * us)).toMatchObject({ queued: 0, inactivated: 0 });
});

const queues = `
  wait-at-recycle
  10 queued 1 1
  20 queued 2 2
  25 queued@1 3 1
  30 batch 2
  40 inactivated 2
  45 queued 4 1
  50 inactivated 1
  55 batch_done 2
  60 batch@1 1
  70 inactivated@1 3
  75 batch_done@1 1
  80 batch 1
  90 inactivated 4
  95 batch_done 1
`;

test('a queue for each CPU: what is listed, what the worker has', () => {
  const { queues: found } = laneOf(inodeIndex(queues));
  const [zero, one] = found.cpus;
  const at = (t: number): Partial<Step> => {
    const { list, hands } = stepAt(zero!, t * us);
    return { list, hands };
  };
  expect(at(21)).toEqual({ list: 2, hands: 0 });
  expect(at(30)).toEqual({ list: 0, hands: 2 });
  expect(at(46)).toEqual({ list: 1, hands: 1 });
  expect(at(96)).toEqual({ list: 0, hands: 0 });
  expect(stepAt(one!, 26 * us)).toMatchObject({ list: 1 });
  expect(found.deepest).toBe(2);
  expect(found.batches.map((b) => [b.cpu, b.items])).toEqual([
    [0, 2],
    [1, 1],
    [0, 1],
  ]);
});

test('inodes balance at every moment: queued is inactivated, or listed, or in the hands of a worker', () => {
  const { lane, lives, queues: found } = laneOf(inodeIndex(queues));
  for (let t = 0; t < 110; t += 5) {
    const { queued, inactivated } = tallyOf(lane, lives, t * us);
    const held = found.cpus.map((queue) => stepAt(queue, t * us));
    const still = held.reduce((sum, s) => sum + s.rcu + s.list + s.hands, 0);
    expect(queued).toBe(inactivated + still);
    expect(populationAt(lives, t * us).queued).toHaveLength(still);
  }
});

test('with call_rcu an inode waits for RCU before it is listed', () => {
  const { queues: found } = laneOf(
    inodeIndex('stock\n 10 queued 1 1\n 20 listed 1 1\n 30 batch 1\n 40 inactivated 1'),
  );
  const at = (t: number) => stepAt(found.cpus[0]!, t * us);
  expect(at(15)).toMatchObject({ rcu: 1, list: 0 });
  expect(at(25)).toMatchObject({ rcu: 0, list: 1 });
  expect(at(45)).toMatchObject({ rcu: 0, list: 0, hands: 0 });
});

test('waits are counted with their time, the worker distinguished from who creates', () => {
  const { lane, lives } = laneOf(
    inodeIndex(`
      stock
      10 queued 5 1
      12 gp_wait 5 1
      40 gp_wait_done 5 1 28000
      50 throttle_done 257 9000
      60 gp_wait 5 0
    `),
  );
  expect(tallyOf(lane, lives, 100 * us)).toMatchObject({
    ...{ gpWaits: 1, gpWaitNs: 28_000, throttles: 1, throttleNs: 9000 },
  });
  expect(lives.waits.map((w) => [w.worker, w.t1])).toEqual([
    [false, 40 * us],
    [true, never],
  ]);
});

test('a weave has the chunk of the enlarged inode, on every lane the same', () => {
  const many = (from: number) => ({ inos: Array.from({ length: 100 }, (_, i) => from + i) });
  const rows = rowsOf([many(0), many(50)] as never, 70);
  expect(rows).toHaveLength(64);
  expect([rows[0], rows.at(-1)]).toEqual([64, 127]);
});

test('what a window is asked for is what a look at every life would give', () => {
  // Twelve inodes that go round at lengths of their own, for as long as the run goes.
  const lines = Array.from({ length: 12 }, (_, i) => {
    const ino = 7 + i;
    const turn = 23 + i * 9;
    const rounds = Array.from({ length: 40 }, (_u, k) => {
      const at = 5 + i * 3 + k * turn;
      const gp = i === 0 ? [`gp ${at + 1} ${at + 14}`] : [];
      return [`${at} queued ${ino} 1`, `${at + Math.floor(turn / 2)} reuse ${ino} ${k % 2}`, ...gp];
    });
    return [`${1 + i} fresh ${ino}`, ...rounds.flat()];
  }).flat();
  const timed = lines.filter((line) => !line.startsWith('gp'));
  timed.sort((a, b) => Number(a.split(' ')[0]) - Number(b.split(' ')[0]));
  const gps = lines.filter((line) => line.startsWith('gp'));
  const { lives } = laneOf(inodeIndex(['stock', ...timed, ...gps].join('\n'), 6000));
  for (let a = 0; a < 6000 * us; a += 137 * us)
    for (const length of [1, 60, 900]) {
      const b = a + length * us;
      const ages = lives.all
        .filter((l) => l.queued < never && l.next >= a && l.next < b && l.shadowEnd < never)
        .map((l) => l.next - l.queued);
      expect(agesIn(lives, a, b).ages).toEqual(ages);
      for (const ino of lives.inos) {
        const seen = (lives.byIno.get(ino) ?? []).filter(
          (l) => l.born <= b && (l.next >= a || l.shadowEnd >= a),
        );
        const given = new Set(livesIn(lives, ino, a, b));
        expect(seen.filter((life) => !given.has(life))).toEqual([]);
      }
    }
});
