// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences, moments and table rows agree with the drawing. In the drawings, one letter is 100 µs. */

import { describe, expect, test } from 'vitest';
import { cell, frameOver } from '../../../test/fixtures/drawing.ts';
import { anyIndex, anyLesson } from '../../../test/fixtures/timeline.ts';
import { placeOf } from '../../derive/moments.ts';
import type { Scene } from '../../protocol/lesson.ts';
import { view } from './index.tsx';
import { timelineMoments } from './moments.ts';
import { counts, timeRows } from './panels.tsx';
import { timelineSentences } from './sentences.ts';

const index = anyIndex(`
  before
  work-0  RRW!RRW!RRWWWWR!....
  f>      FFF.FF..............
  f>      .G..................
  p> hit  1 4 15
  p> miss 5
  disk    ..B...B...BBBB......
  wake> work-0 14
  after
  work-0  RR!RR!RR!RR!RR!RR!..
  f>      F.F.F.F.............
`);

const say = (name: keyof typeof timelineSentences, from = 0, to = 20, moment = 20) =>
  timelineSentences[name](index, frameOver(from, to, moment), anyLesson);

test('what the wait costs, per operation and arm, in the window alone', () => {
  expect(say('wait_cost')).toBe(
    'On Before, “waits for the disk” costs 200 µs per read: 600 µs in this window of 3 reads. On After, no worker waits in this window of 6 reads.',
  );
  expect(say('wait_cost', 0, 4)).toContain(
    'costs 100 µs per read: 100 µs in this window of 1 read.',
  );
  expect(say('wait_cost', 10, 13)).toContain(
    'takes 300 µs in this window, and no read ends in that time.',
  );
});

test('the function that takes most time', () => {
  expect(say('functions')).toBe(
    'On Before, no traced function takes more of this window than “inside outer”: 500 µs in 2 calls; the longest call takes 300 µs in all. On After, no traced function takes more of this window than “inside outer”: 400 µs in 4 calls; the longest call takes 100 µs in all.',
  );
});

test('points, phases, links, states, now', () => {
  expect(say('points')).toBe(
    'On Before, up to this moment: 3 × a hit and 1 × a miss. On After, none of these events has been seen yet.',
  );
  expect(say('points', 0, 20, 4)).toContain('up to this moment: 2 × a hit.');
  expect(say('phases')).toBe('On Before, this window has 3 × busy (600 µs).');
  expect(say('links')).toBe(
    'On Before, 1 link of this window reaches 1 worker. On After, this window has no link.',
  );
  expect(say('states')).toContain(
    'Before: shares of the time of 1 worker in this window: 50 % running',
  );
  expect(say('now', 0, 20, 11)).toBe(
    'On Before, the one worker waits for the disk. On After, the one worker runs.',
  );
});

const looks = (moment: string, window_ms: number, focus: string[] = []) => {
  return { moment, window_ms, window_steps: 0, operation: 1, focus };
};

const cellAt = (moment: string, window_ms = 1, focus: string[] = []) =>
  Number(
    (placeOf(index, looks(moment, window_ms, focus), timelineMoments).moment / cell).toFixed(2),
  );

test('moments are found in the events', () => {
  expect(cellAt('longest_wait')).toBe(14);
  expect(cellAt('longest_function')).toBe(1.5);
  expect(cellAt('longest_function', 1, ['middle'])).toBe(1.5);
  expect(cellAt('longest_phase')).toBe(12);
  expect(cellAt('longest', 1, ['outer'])).toBe(1.5);
  expect(cellAt('longest_op')).toBe(12);
  expect(cellAt('first_point')).toBe(1);
  expect(cellAt('busiest', 0.4)).toBeCloseTo(4, 0);
});

test('a window without a length is fitted to what is looked at', () => {
  const place = placeOf(index, looks('longest_phase', 0), timelineMoments);
  expect(place.span).toBe(4 * 1.5 * cell);
  expect(place.start / cell).toBe(9);
});

describe('sentences and marks agree', () => {
  /** A deterministic sequence of letters. */
  const letters = (seed: number, n: number, of: string) => {
    let state = seed;
    return Array.from({ length: n }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return of[Math.floor((state / 4294967296) * of.length)]!;
    }).join('');
  };

  test.each(Array.from({ length: 20 }, (_, seed) => [seed]))('run %i', (seed) => {
    const states = letters(seed * 7 + 1, 60, 'RRWs!');
    const calls = letters(seed * 11 + 3, 60, 'FG..');
    const hits = [...letters(seed * 13 + 5, 60, '10000')].flatMap((c, i) => (c === '1' ? [i] : []));
    const run = anyIndex(
      `before\nwork-0 ${states}\nf> ${calls}\np> hit ${hits.length > 0 ? hits.join(' ') : 0}`,
    );
    const [from, to] = [seed, 30 + seed];
    const frame = frameOver(from, to, to);
    const part = states.slice(from, to);
    const waits = [...part].filter((c) => c === 'W').length;
    const ops = [...part].filter((c) => c === '!').length;
    const cost = timelineSentences.wait_cost(run, frame, anyLesson);
    if (waits === 0) expect(cost).toContain('no worker waits');
    else {
      const whole = waits < 10 ? `${waits * 100} µs` : `${Number((waits / 10).toFixed(2))} ms`;
      expect(cost).toContain(`${whole} in this window`);
      if (ops > 0) expect(cost).toContain(`of ${ops} read${ops === 1 ? '' : 's'}.`);
    }
    const seen = (hits.length > 0 ? hits : [0]).filter((at) => at <= to).length;
    expect(timelineSentences.points(run, frame, anyLesson)).toContain(`${seen} × a hit`);
    const rows = view.table(run, frame, anyLesson);
    expect(rows.length).toBeLessThanOrEqual(50);
    const times = rows.map((row) => row.t0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const row of rows.filter(({ mark }) => mark.table === 'points')) {
      expect(row.what).toMatch(/^a hit: block \d+, took_ns /);
      expect(hits.length > 0 ? hits : [0]).toContain(Math.round(row.mark.t0 / cell));
    }
  });
});

test('the panel of time and the table of counts say what the drawing shows', () => {
  const rows = timeRows(index, frameOver(0, 20, 20));
  const cells = (head: string) => {
    const row = rows.find((one) => one.head === head)!;
    return [row.of('before'), row.of('after')];
  };
  expect(cells('running')).toEqual(['50 %', '90 %']);
  expect(cells('waits for the disk')).toEqual(['30 %', '0 %']);
  expect(cells('inside outer')).toEqual(['2 × 250 µs', '4 × 100 µs']);
  expect(cells('busy')).toEqual(['3 × 200 µs', '0']);
  const { heads, rows: counted } = counts(index, frameOver(0, 20, 5), anyLesson);
  expect(heads).toEqual(['reads', 'a hit', 'a miss']);
  expect(counted.get('before')).toEqual(['1', '2', '1']);
  expect(counted.get('after')).toEqual(['1', '0', '0']);
});

test('a run that is shorter than the window is seen as a whole', () => {
  const place = placeOf(index, looks('busiest', 30), timelineMoments);
  expect([place.start, place.span]).toEqual([0, 20 * cell]);
});

test('the legend has what the scene draws, a point only in focus', () => {
  const names = (scene: Partial<Scene>) =>
    view
      .legend?.(anyLesson, { focus: [], show: [], ...scene } as unknown as Scene, null)
      .map((kind) => kind.name);
  expect(names({})).toEqual([
    ...['running', 'runnable', 'wait_disk', 'outer', 'middle', 'inner', 'busy', 'wait_other'],
  ]);
  expect(names({ show: ['points'] })).not.toContain('outer');
  expect(names({ focus: ['hit', 'outer'] })).toEqual(['outer', 'hit']);
});
