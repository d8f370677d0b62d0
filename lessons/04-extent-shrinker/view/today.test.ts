// SPDX-License-Identifier: GPL-2.0-or-later
/** A lane of stock 7.3: no event of a scan or a walk, and visits without a file. A file of 8 D and 8 W, scans of 4. */

import { indexRun } from '@page/derive/run-index.ts';
import type { RunIndex } from '@page/derive/types.ts';
import { Store } from '@page/store/store.ts';
import {
  extentLesson,
  frameAfter,
  ino,
  Kernel,
  type PointRow,
  pointBatch,
  pointNames,
} from '@test/fixtures/extents.ts';
import { laneMessage, opBatch, runMessage } from '@test/fixtures/messages.ts';
import { expect, test } from 'vitest';
import { chargeWords } from './figures.ts';
import { behindBox, boxMark, lookOf } from './marks.ts';
import { absence, backSoFar, backsOfBlock, factsOf, hasList, laneNow } from './replay.ts';
import { sentences } from './words.ts';

const names = [...pointNames, 'requested', 'returned'];
const lesson = {
  ...extentLesson,
  points: names.map((name) => ({ ...extentLesson.points[0]!, name, title: name })),
};
const nr = 4;

/** Turn the points of 6.1 into those of 7.3. The request comes with the return, which makes no difference here. */
function asToday(points: readonly PointRow[]): PointRow[] {
  return points.flatMap(([name, t, ...fields]): PointRow[] => {
    if (name === 'walk') return [];
    if (name === 'visit') return [[name, t, 0, ...fields.slice(1)]];
    if (name !== 'scanned') return [[name, t, ...fields]];
    const freed = fields[4]!;
    return [
      ['requested', t, nr],
      ['returned', t, freed],
    ];
  });
}

function indexOf(points: readonly PointRow[], ops: Kernel['ops']): RunIndex {
  const store = new Store();
  store.dispatch(runMessage('r', ['stock']));
  store.dispatch(laneMessage('r', 'stock'));
  const watermark = points.at(-1)?.[1] ?? 0;
  store.dispatch(opBatch({ runId: 'r', arm: 'stock', seq: 0, watermark }, ops, 1));
  store.dispatch(pointBatch('r', 'stock', names, points));
  return indexRun(store.shown()!, lesson);
}

const kernel = new Kernel('stock', { delayed: 8, written: 8, nr, scans: 4 });
const run = indexOf(asToday(kernel.points), kernel.ops);
const [today] = run.lanes;
const at = (visits: number, index = run) =>
  laneNow({ index, frame: frameAfter(visits) }, index.lanes[0]!);

test('boxes are those of 6.1, although no visit reports the file', () => {
  const looks = (visits: number) => {
    const { boxes, blocks, now } = at(visits);
    return Array.from(blocks, (_, box) => lookOf(boxes, box, now)[0]).join('');
  };
  expect(looks(0)).toBe('ddddddddwwwwwwww');
  expect(looks(4)).toBe('vvvvddddwwwwwwww');
  expect(looks(10)).toBe('ddddddddffwwwwww');
  expect(looks(13)).toBe('ddddddddggggfwww');
});

test('the drawn file is one that an event reports, however many visits report none', () => {
  const visits = asToday(kernel.points).filter(([name]) => name === 'visit');
  const index = indexOf([['insert', 100, ino, 40, 1, 1], ...visits], kernel.ops);
  expect(at(0, index).blocks).toHaveLength(16 + 1);
  expect(at(0, index).boxes.letter.at(-1)).toBe(2);
});

test('the drawer of a box has its visits', () => {
  const frame = frameAfter(10);
  const mark = boxMark(at(10), lesson, 9);
  expect(behindBox(run, frame, lesson, mark)?.rows.map(({ what }) => what)).toEqual([
    'insert',
    'visit',
  ]);
});

test('an entry that is freed and made again was put back', () => {
  const again: PointRow[] = [...asToday(kernel.points), ['insert', 1e6, ino, 8, 1, 1]];
  const index = indexOf(again, kernel.ops);
  expect(backSoFar(index.lanes[0]!, again.length)).toBe(1);
  expect(backsOfBlock(index.lanes[0]!, 8, 1e9)).toBe(1);
});

test('the request tells the budget, and the first scan what it counts', () => {
  expect(factsOf(today!)).toMatchObject({ budget: nr, charge: 'looks', untold: 0, firstGain: 3 });
  expect(chargeWords(at(4))).toBe('budget: 4 looks');
  expect(hasList(today!)).toBe(false);
});

test('a budget that counts freed entries is distinguished from one that counts looks; equal numbers say nothing', () => {
  const chargeOf = (arm: string) => {
    const { points, ops } = new Kernel(arm, { delayed: 8, written: 8, nr, scans: 1 });
    return factsOf(indexOf(asToday(points), ops).lanes[0]!).charge;
  };
  expect(chargeOf('scan-2013')).toBe('gains');
  expect(chargeOf('evictable-list')).toBeNull();
});

test('sentences are those of 6.1', () => {
  const say = (name: string, visits: number) => sentences[name]!(run, frameAfter(visits), lesson);
  expect(say('one_scan', 4)).toBe(
    'The scan returns: 4 entries looked at, all of them must stay, none freed. Its budget of 4 is used up.',
  );
  expect(say('totals', 12)).toBe(
    'So far: stock made 3 looks per freed entry in 3 scans that returned.',
  );
});

test('where no visit was traced, the page does not say that visits are counted', () => {
  const rest = asToday(kernel.points).filter(
    ([name]) => name === 'requested' || name === 'returned',
  );
  expect(absence(indexOf(rest, kernel.ops).lanes[0]!)).toBe(
    'With so many entries, visits are not reported. Set fewer delayed entries to get the picture back.',
  );
  expect(absence(indexOf([], []).lanes[0]!)).toBe('No entry has been seen yet.');
});
