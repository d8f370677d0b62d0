// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences, counts and answers: read off the events, for the moment. A file of 8 D and 8 W, scans of 4. */

import { offsetsOf } from '@page/derive/align.ts';
import type { Frame, RunIndex } from '@page/derive/types.ts';
import {
  extentLesson,
  fileRun,
  frameAfter,
  indexOfRows,
  ino,
  Kernel,
} from '@test/fixtures/extents.ts';
import { expect, test } from 'vitest';
import { keyPlaces, strokesOf } from './panels.tsx';
import { answers, counts, nearby, sentences, summary } from './words.ts';

const run = fileRun({ delayed: 8, written: 8, nr: 4, scans: 4 });
const only = (...arms: string[]): RunIndex => ({
  ...run,
  lanes: arms.map((arm) => run.lanes.find((lane) => lane.arm === arm)!),
});
const say = (name: string, index: RunIndex, frame: Frame) =>
  sentences[name]!(index, frame, extentLesson);

test('one scan, from its begin to its return', () => {
  const stock = only('stock');
  expect(say('one_scan', stock, frameAfter(0))).toBe('Stock is asked for 4 entries.');
  expect(say('one_scan', stock, frameAfter(1))).toMatch(/1 entry looked at, all of them must stay/);
  expect(say('one_scan', stock, frameAfter(4))).toBe(
    'The scan returns: 4 entries looked at, all of them must stay, none freed. Its budget of 4 is used up.',
  );
});

test('the same scan on all: each stands when it has come back', () => {
  expect(say('each_scan', run, frameAfter(12))).toBe(
    'In scan 1, which asks for 4 entries: 2013 scan looked at 12 and freed 4, stock looked at 4 and freed none and evictable list looked at 4 and freed 4. All have returned.',
  );
});

test('the first gain: how far it is, and when it came', () => {
  const stock = only('stock');
  expect(say('first_gain', stock, frameAfter(5))).toBe(
    'Scan 2 of stock: so far 5 entries looked at, none freed, with 3 more delayed entries ahead.',
  );
  expect(say('first_gain', stock, frameAfter(10))).toBe(
    'Scan 3 of stock is the first to free anything, after 8 looks that freed nothing. So far, stock has freed 2.',
  );
});

test('equal looks bring unequal gains', () => {
  expect(say('charged', run, frameAfter(8))).toBe(
    '8 looks on each kernel so far; entries freed: 2013 scan none up to scan 1, stock none up to scan 2 and evictable list 8 up to scan 2.',
  );
});

test('where one lane has made fewer looks than another, each says how many', () => {
  expect(say('charged', run, frameAfter(12))).toBe(
    'Entries freed so far: 2013 scan 4 after 12 looks up to scan 1, stock 4 after 12 looks up to scan 3 and evictable list 8 after 8 looks up to scan 2.',
  );
});

test('aligned at a scan by hand, each lane says the looks that it has made by then', () => {
  const offset = offsetsOf(run, 'operation', 0, 2);
  const said = say('charged', run, frameAfter(20, { offset }));
  const looks = [...said.matchAll(/(\d+) looks up to scan (\d)/g)].map(([, n, at]) => [n, at]);
  expect(said).not.toMatch(/looks each/);
  // Scan 2 ends on all at once, here four looks later: after 24 of the scan of 2013, after 8 of the others.
  expect(looks).toEqual([
    ['20', '2'],
    ['4', '1'],
    ['4', '1'],
  ]);
});

test('looks for each entry freed are of the scans that returned, and none is said before the first', () => {
  expect(say('totals', run, frameAfter(11))).toBe(
    'So far: 2013 scan is in its first scan, stock freed nothing in 2 scans that returned and evictable list made 1 look per freed entry in 4 scans that returned.',
  );
  expect(say('totals', run, frameAfter(14))).toMatch(
    /2013 scan made 3 looks per freed entry in 1 scan that returned, stock made 3 looks per freed entry in 3 scans/,
  );
});

test('the promise: what one call brings back', () => {
  expect(say('promise', only('scan-2013', 'stock'), frameAfter(12))).toBe(
    'In scan 1, which asks for 4 entries: 2013 scan frees 4, with 8 looks in vain and stock frees none, with 4 looks in vain.',
  );
  expect(say('promise', only('scan-2013', 'stock'), frameAfter(6))).toBe(
    'In scan 1, which asks for 4 entries: 2013 scan has freed none so far, with 6 looks in vain and stock frees none, with 4 looks in vain.',
  );
});

test('the price counts the list, and who carries its pointers for nothing', () => {
  expect(say('price', only('stock', 'evictable-list'), frameAfter(4))).toBe(
    "Evictable list: 4 entries are on the list, which was changed 12 times so far. 8 delayed entries have the list's pointers but are not on the list.",
  );
});

test('no reader, no answer', () => {
  expect(say('reader', run, frameAfter(4))).toMatch(/^No program has asked/);
});

test('where visits were not traced, that is said', () => {
  const kernel = new Kernel('stock', { delayed: 8, written: 8, nr: 4, scans: 2 });
  const points = kernel.points.filter(([name]) => name === 'scanned');
  const untold = indexOfRows({ stock: { points, ops: kernel.ops } });
  expect(say('first_gain', untold, frameAfter(0))).toMatch(/counted but not reported one by one/);
  const fresh = indexOfRows({ stock: { points: [], ops: [] } });
  expect(say('first_gain', fresh, frameAfter(0))).toBe('No entry has been seen yet.');
});

test('a reader: what lseek answers, and how many delayed entries gave the answer', () => {
  const kernel = new Kernel('stock', { delayed: 8, written: 4, nr: 4, scans: 1 });
  kernel.note('found', ino, 0, 1, 4);
  kernel.note('answer', 0);
  for (let block = 0; block < 8; block++) kernel.note('found', ino, block, 1, 4);
  kernel.note('answer', 8 * 4096);
  const index = indexOfRows({ stock: kernel });
  expect(say('reader', index, frameAfter(4))).toBe(
    "After a scan, a program asks where the file's data are (SEEK_DATA, SEEK_HOLE). Data from block 0, a hole at 8; 8 delayed entries gave the answer.",
  );
  expect(say('reader', index, frameAfter(3))).toMatch(/^No program/);
});

test('counts balance in every lane and at every moment', () => {
  for (let visits = 0; visits <= 48; visits++) {
    const { heads, rows } = counts(run, frameAfter(visits));
    expect(heads).toEqual(['scans', 'visited', 'freed', 'kept', 'entries visited per entry freed']);
    for (const [, visited, freed, kept] of [...rows.values()].map((row) => row.map(Number)))
      expect(visited).toBe(freed! + kept!);
  }
  expect(counts(run, frameAfter(12)).rows.get('stock')).toEqual(['3', '12', '4', '8', '3']);
});

test('answers come from the first scan, and from the first that frees', () => {
  const ask = (metric: string, arm: string, bounds: number[]) =>
    answers[metric]!(
      run,
      {
        question: '',
        choices: ['a', 'b', 'c'],
        metric,
        unit: '',
        arms: [arm, arm],
        bounds,
        params: {},
        measured_on: null,
        crossing: null,
        judged_when_busy: false,
      },
      extentLesson,
    );
  expect(ask('first_scan_visits', 'scan-2013', [5, 13])).toMatchObject({ value: 12, choice: 1 });
  expect(ask('first_gain_scan', 'stock', [1, 3])).toMatchObject({ value: 3, choice: 2 });
});

test('the table tells at most 50 visits, and none that is still to come', () => {
  const rows = nearby(run, frameAfter(5), extentLesson);
  expect(rows).toHaveLength(8 + 5 + 2);
  expect(rows.every((row) => row.t0 <= 5000)).toBe(true);
  expect(rows[0]).toMatchObject({ lane: '2013 scan', row: 'block 0 D', what: 'visited, kept' });
  const long = fileRun({ delayed: 300, written: 8, nr: 4, scans: 40 });
  expect(nearby(long, frameAfter(150), extentLesson).length).toBeLessThanOrEqual(50);
});

test('the window in words, a sentence per lane', () => {
  expect(summary(run, frameAfter(10), extentLesson)).toEqual([
    '2013 scan: scan 1; 10 visits so far, 2 freed and 8 kept.',
    'Stock: scan 3; 10 visits so far, 2 freed and 8 kept.',
    'Evictable list: scan 2 is over; 8 visits so far, 8 freed and 0 kept.',
  ]);
});

test('a kernel has one line from step to step, and no two lanes have the same', () => {
  expect(strokesOf(run.lanes, extentLesson)).toEqual([0, 1, 2]);
  expect(strokesOf(only('stock', 'evictable-list').lanes, extentLesson)).toEqual([1, 2]);
  const own = { ...run.lanes[0]!, arm: 'mine' };
  expect(strokesOf([run.lanes[2]!, own], extentLesson)).toEqual([0, 1]);
});

test('names of lines stand side by side, and in a further row where there is no room', () => {
  expect(keyPlaces([60, 35], 4, 241)).toEqual([
    { x: 4, row: 0 },
    { x: 108, row: 0 },
  ]);
  expect(keyPlaces([60, 35, 84], 4, 241).map(({ row }) => row)).toEqual([0, 0, 1]);
});
