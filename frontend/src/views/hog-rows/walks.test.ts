// SPDX-License-Identifier: GPL-2.0-or-later
/** How a walk of a reader ends is read off who is in line for the lock. */

import { expect, test } from 'vitest';
import { cell, frameOver, indexOf, storeOf } from '../../../test/fixtures/drawing.ts';
import { testLesson } from '../../../test/fixtures/lesson.ts';
import { pointBatch } from '../../../test/fixtures/messages.ts';
import { recordingPen } from '../../../test/fixtures/pen.ts';
import { lightTheme } from '../../base/theme.ts';
import { markOf, spansIn } from '../../derive/query.ts';
import { indexRun } from '../../derive/run-index.ts';
import { namedTiles } from '../paints.ts';
import { pictureOf } from '../timeline/artist.ts';
import { drawPicture } from '../timeline/draw.ts';
import { scoreOf } from '../timeline/score.ts';
import { hogLook } from './look.ts';
import { fateWords, scoreAt, scoreWords, walksOf } from './walks.ts';

// Whole; cut short by storm-0 and given up behind it, woken but not run yet; given up behind storm-1; whole again.
const lane = (arm: string) =>
  indexOf(`
  ${arm}
  storm-0       RRRRRRLLLLLrRRRRRRRRRRRRRR
  storm-1       RRRRRRRRRRRRRRRLLLLRRRRRRR
  storm-reclaim .OO.OOOOOOO.O...OO....OO..
`);
const fates = (arm: string) => {
  const index = lane(arm);
  return walksOf(index, index.lanes[0]!).map(({ fate }) => fate);
};

test('a walk gives up behind somebody in line, and is cut short by who comes', () => {
  expect(fates('rwsem')).toEqual(['whole', 'cut_short', 'gave_up', 'gave_up', 'whole']);
  const woken = indexOf(
    'rwsem\nstorm-0 RLLLLrrrRRRR\nstorm-1 RRRRRRRRRRRR\nstorm-reclaim ......O.....',
  );
  expect(walksOf(woken, woken.lanes[0]!).map(({ fate }) => fate)).toEqual(['gave_up']);
});

test('readers that take no lock always go to the end', () => {
  expect(new Set(fates('srcu'))).toEqual(new Set(['whole']));
  expect(new Set(fates('srcu-expedited'))).toEqual(new Set(['whole']));
});

test('the score is that of the moment', () => {
  const index = lane('rwsem');
  const at = (t: number) => scoreWords('rwsem', scoreAt(index, index.lanes[0]!, t * cell));
  expect(at(1)).toBe('');
  expect(at(3)).toBe('1 walk so far: 1 to the end, 0 cut short, 0 gave up');
  expect(at(26)).toBe('5 walks so far: 2 to the end, 1 cut short, 2 gave up');
});

function draw(show: string[], moment: number) {
  const index = lane('rwsem');
  const score = scoreOf(testLesson, show, null, 13, hogLook);
  const { pen, log } = recordingPen();
  const size = { width: 140 + 1040 + 14, height: 600, dpr: 1 };
  const picture = pictureOf(index, frameOver(0, 26, moment), size, score);
  drawPicture(pen, picture, { theme: lightTheme, tiles: namedTiles, stamp: null });
  const signs = log.filter(
    (s) => s.what === 'fill' && s.fill === lightTheme.hazard && s.at.length === 3,
  );
  const words = log.filter((s) => s.what === 'fillText').map((s) => s.text);
  return { index, signs, words };
}

test('the sign of a walk that gave up stands at its begin, and the words say how many', () => {
  const { signs, words } = draw(['walks'], 26);
  expect(signs.map(({ at }) => at[0]! - at[2]! - 140)).toEqual([480, 640]);
  expect(words).toContain('5 walks so far: 2 to the end, 1 cut short, 2 gave up');
  const early = draw(['walks'], 10);
  expect(early.signs[0]!.alpha).toBeLessThan(0.5);
  expect(early.words).toContain('1 walk so far: 1 to the end, 0 cut short, 0 gave up');
  expect(draw(['tracks'], 26).signs).toEqual([]);
});

test('a walk that is pointed at says why it ended', () => {
  const index = lane('rwsem');
  const said = [...spansIn(index.lanes[0]!, 'function', 0, 26 * cell)].map((span) =>
    fateWords(index, markOf('rwsem', span)),
  );
  expect(said[1]).toContain('Cut short');
  expect(said[2]).toContain('Gave up');
  expect(said[0]).toBe('');
});

test('what walks have freed is what their probe returned, and goes into the score', () => {
  const store = storeOf('rwsem\nstorm-0 RRLLLLRRRR\nstorm-reclaim OO.OO.OO..');
  const head = { runId: 'r', arm: 'rwsem', seq: 0, watermark: 10 * cell };
  // Of the first walk a little behind its end, of the second before; of the third there is none.
  const rows = [
    { t: 2 * cell + 900, kind: 0, values: [1024] },
    { t: 5 * cell - 900, kind: 0, values: [0] },
  ];
  store.dispatch(pointBatch(head, rows));
  const points = [
    { name: 'freed', probe: 'walk_freed', lens: null, title: 'freed', fields: ['freed'] },
  ];
  const index = indexRun(store.shown()!, { ...testLesson, points });
  const walks = walksOf(index, index.lanes[0]!);
  expect(walks.map(({ freed }) => freed)).toEqual([1024, 0, null]);
  const score = scoreAt(index, index.lanes[0]!, 10 * cell);
  expect(scoreWords('rwsem', score)).toMatch(/^3 walks so far: .*; 1,024 objects freed$/);
  const [first] = [...spansIn(index.lanes[0]!, 'function', 0, 10 * cell)];
  expect(fateWords(index, markOf('rwsem', first!))).toContain('It freed 1,024 objects.');
});
