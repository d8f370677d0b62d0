// SPDX-License-Identifier: GPL-2.0-or-later
/** Boxes from points, scans, budgets: what the strip says is what the events say. A file of 8 D and 8 W, scans of 4. */

import { ns } from '@page/base/units.ts';
import type { Frame, RunIndex } from '@page/derive/types.ts';
import { Writer } from '@test/figures/scene.ts';
import { fileRun, frameAfter, indexOfRows, ino, Kernel } from '@test/fixtures/extents.ts';
import { recordedLessons, shownScene } from '@test/fixtures/recordings.ts';
import { describe, expect, test } from 'vitest';
import { lookOf, spending } from './marks.ts';
import {
  backSoFar,
  backsOfBlock,
  blocksOf,
  factsOf,
  hasList,
  laneNow,
  letterOf,
  listSteps,
  newness,
  refillsOf,
  replayOf,
  sumsOf,
  threadOf,
} from './replay.ts';

describe('strip', () => {
  const small = { delayed: 8, written: 8, nr: 4, scans: 6 };
  const run = fileRun(small);
  const lane = (index: RunIndex, arm: string) => index.lanes.find((one) => one.arm === arm)!;

  const signs = { unknown: '?', delayed: 'D', written: 'W', hole: 'H', unwritten: 'U', vain: '-' };
  const more = { spared: 's', freed: '+', gone: '.' };

  /** All boxes of a lane in a word: capitals are there, - in vain, + freed by this scan, . gone. */
  function strip(index: RunIndex, arm: string, visits: number, hold = false): string {
    const state = laneNow({ index, frame: frameAfter(visits, { hold }) }, lane(index, arm));
    return [...state.blocks]
      .map((_, box) => ({ ...signs, ...more })[lookOf(state.boxes, box, state.now)])
      .join('');
  }

  test('letters are the bits of the status, whatever other bits say', () => {
    expect([1, 2, 4, 8, 4 | 16, 2 | 4, 0].map(letterOf)).toEqual([2, 4, 1, 3, 1, 1, 0]);
  });

  test('before the first visit every entry that was reported is there', () => {
    for (const arm of ['scan-2013', 'stock', 'evictable-list'])
      expect(strip(run, arm, 0)).toBe('DDDDDDDDWWWWWWWW');
  });

  test('one scan of each kernel: treads over all, stops with nothing, goes straight to W', () => {
    expect(strip(run, 'scan-2013', 12)).toBe('--------++++WWWW');
    expect(strip(run, 'stock', 4)).toBe('----DDDDWWWWWWWW');
    expect(strip(run, 'evictable-list', 4)).toBe('DDDDDDDDWWWW++++');
  });

  test('the next scan begins anew: what was looked at is solid again, what was freed is gone', () => {
    expect(strip(run, 'scan-2013', 15)).toBe('---DDDDD....WWWW');
    expect(strip(run, 'stock', 6)).toBe('DDDD--DDWWWWWWWW');
    expect(strip(run, 'stock', 10)).toBe('DDDDDDDD++WWWWWW');
  });

  test('a held lane stands at the end of the scan that the window begins with', () => {
    expect(strip(run, 'stock', 12, true)).toBe('----DDDDWWWWWWWW');
    expect(strip(run, 'scan-2013', 12, true)).toBe('--------++++WWWW');
  });

  test('stock frees its first entry in the third scan, the two others in the first', () => {
    expect(run.lanes.map((one) => factsOf(one).firstGain)).toEqual([1, 3, 1]);
  });

  test('what a budget is charged for is read off the walks', () => {
    expect(run.lanes.map((one) => factsOf(one).charge)).toEqual(['gains', 'looks', 'looks']);
    expect(run.lanes.map((one) => factsOf(one).budget)).toEqual([4, 4, 4]);
  });

  test('budget: looks in vain cost 2013 nothing, and stock all it has', () => {
    const spent = (arm: string, visits: number) => {
      const {
        lane: of,
        facts,
        now,
      } = laneNow({ index: run, frame: frameAfter(visits) }, lane(run, arm));
      const { order } = of.pointsOf('visit');
      return spending((v) => of.points.e[order[v]!]!, facts, now).join(' ');
    };
    expect(spent('scan-2013', 8)).toBe('');
    expect(spent('scan-2013', 10)).toBe('spent_gain spent_gain');
    expect(spent('stock', 3)).toBe('spent_vain spent_vain spent_vain');
    expect(spent('evictable-list', 2)).toBe('spent_gain spent_gain');
  });

  test('on the list visited is freed and spared, and nothing is kept', () => {
    const hot = fileRun({ ...small, hot: 3 });
    const facts = factsOf(lane(hot, 'evictable-list'));
    const sums = sumsOf(facts, 0, facts.visits);
    expect(sums).toEqual({ visited: 11, kept: 0, spared: 3, freed: 8 });
    expect(strip(hot, 'evictable-list', 8)).toBe('DDDDDDDDsss+....');
  });

  test('only the kernel that begins with the newest entry has a list', () => {
    expect(run.lanes.map(hasList)).toEqual([false, false, true]);
    const {
      boxes,
      points,
      lane: list,
    } = laneNow({ index: run, frame: frameAfter(4) }, lane(run, 'evictable-list'));
    expect(threadOf(boxes)).toEqual([11, 10, 9, 8]);
    expect(listSteps(list, points)).toBe(8 + 4);
    expect(listSteps(lane(run, 'stock'), 1000)).toBeNull();
  });

  test('an entry that no event has named yet is unknown, not gone', () => {
    const kernel = new Kernel('stock', { delayed: 4, written: 0, nr: 2, scans: 2 });
    const late = kernel.points.filter(([name]) => name !== 'found');
    const index = indexOfRows({ stock: { points: late, ops: kernel.ops } });
    expect(strip(index, 'stock', 0)).toBe('????');
    expect(strip(index, 'stock', 1)).toBe('-???');
    expect(strip(index, 'stock', 3)).toBe('DD-?');
  });

  test('an entry that is made again after it was freed is there again', () => {
    const kernel = new Kernel('evictable-list', { delayed: 2, written: 2, nr: 2, scans: 1 });
    for (const block of [2, 3]) kernel.note('insert', ino, block, 1, 1);
    kernel.note('visit', ino, 3, 1, 1, 2);
    const index = indexOfRows({ 'evictable-list': kernel });
    expect(strip(index, 'evictable-list', 2)).toBe('DD++');
    expect(strip(index, 'evictable-list', 3)).toBe('DDW+');
  });

  test('keyframes: a replay from any place is the replay from the start', () => {
    const long = fileRun({ delayed: 1500, written: 40, nr: 32, scans: 200 }, ['stock']);
    const [stock] = long.lanes;
    const blocks = blocksOf(long);
    const replay = replayOf(stock!, blocks);
    const last = stock!.points.length;
    expect(last).toBeGreaterThan(5000);
    const forward = [4095, 4096, 4097, last].map((n) => structuredClone(replay.after(n)));
    const back = [4095, 4096, 4097, last].toReversed().map((n) => structuredClone(replay.after(n)));
    expect(back.toReversed()).toEqual(forward);
  });

  test('visits that scans count but nobody reported are known as such', () => {
    const kernel = new Kernel('stock', small);
    const state = kernel.points.filter(([name, t]) => name !== 'visit' || t < 8000);
    const index = indexOfRows({ stock: { points: state, ops: kernel.ops } });
    const { untold, visits } = factsOf(index.lanes[0]!);
    expect(untold).toBe(24 - visits);
    expect(untold).toBeGreaterThan(0);
  });
});

// Entries that come back while scans go on are seen where they come from: in the boxes, the figures, the words.
describe('refill', () => {
  const [recorded] = recordedLessons('04-extent-shrinker');
  const shown = (step: string) =>
    shownScene(recorded!, recorded!.lesson.scenes.find(({ id }) => id === step)!);
  const at = (frame: Frame, visits: number): Frame => ({ ...frame, moment: ns(visits * 1000 + 1) });

  test('nothing has more entries than were written and came back', () => {
    for (const step of ['budget', 'thousands', 'verdict']) {
      const { index, frameAt, scene } = shown(step);
      const written = scene.params['written'] ?? 0;
      for (const lane of index.lanes) {
        const one = laneNow({ index, frame: frameAt(1) }, lane, false);
        const { freed } = sumsOf(one.facts, 0, one.now.visits);
        const there = one.boxes.there.filter((is, box) => is === 1 && one.boxes.letter[box] === 2);
        expect(there.length).toBe(written + backSoFar(lane, one.points) - freed);
      }
    }
  });

  test('the list has freed all 256 after 256 looks, and then 256 come back at once', () => {
    const { index, frameAt } = shown('budget');
    const lane = index.lanes.find(({ arm }) => arm === 'evictable-list')!;
    const state = (visits: number) =>
      laneNow({ index, frame: at(frameAt(1), visits) }, lane, false);
    expect(refillsOf(lane, 300)).toEqual([256]);
    expect(backSoFar(lane, state(255).points)).toBe(0);
    const after = state(260);
    expect(backSoFar(lane, after.points)).toBe(256);
    const fresh = [...after.blocks].filter((_, box) => newness(after.boxes, box, after.now) > 0);
    expect(fresh).toHaveLength(252);
    expect(backsOfBlock(lane, fresh[0]!, after.now.t)).toBe(1);
    // A scan later they are entries like any other.
    const later = state(290);
    expect([...later.blocks].some((_, box) => newness(later.boxes, box, later.now) > 0)).toBe(
      false,
    );
  });

  test('picture, figures and sentence say how many came back', () => {
    const writer = new Writer(shown('budget'));
    const frame = at(writer.shown.frameAt(1), 260);
    const before = at(writer.shown.frameAt(1), 250);
    const back = ({ figures }: ReturnType<Writer['sentence']>) =>
      figures.filter(({ what }) => what === 'put back').map(({ arm, value }) => [arm, value]);
    expect(back(writer.picture(frame))).toEqual([['evictable-list', 256]]);
    expect(back(writer.sentence(frame))).toEqual([['evictable-list', 256]]);
    expect(back(writer.sentence(before))).toEqual([]);
    expect(writer.sentence(frame).words[0]).toContain('(256 entries were put back)');
  });
});
