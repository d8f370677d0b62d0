// SPDX-License-Identifier: GPL-2.0-or-later
/** A stage that is narrow and low: all that a lane has stays within it, and words stand clear of each other. */

import { lightTheme } from '@page/base/theme.ts';
import { namedTiles } from '@page/views/paints.ts';
import { pictureOf } from '@page/views/timeline/artist.ts';
import { drawPicture } from '@page/views/timeline/draw.ts';
import { scoreOf } from '@page/views/timeline/score.ts';
import { frameOver, indexOf } from '@test/fixtures/drawing.ts';
import { testLesson } from '@test/fixtures/lesson.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { hogLook } from './look.ts';

const index = indexOf(`
  srcu
  storm-0  RRSSSSSSRR
  storm-1  rrRRSSSSSR
  grace-period AAAAAAAAAA
  callbacks ......DDW.
  exp-rcu GGGG......
`);
const score = scoreOf(testLesson, undefined, null, 13, hogLook);

function drawn(height: number) {
  const { pen, log } = recordingPen();
  const picture = pictureOf(index, frameOver(0, 10, 10), { width: 560, height, dpr: 1 }, score);
  drawPicture(pen, picture, { theme: lightTheme, tiles: namedTiles, stamp: null });
  const words = log.filter((s) => s.what === 'fillText');
  return { layout: picture.layout, words, texts: words.map((s) => s.text) };
}

test('with room, names stand above their lines, and what is not the lesson is there', () => {
  const { texts, layout } = drawn(420);
  expect(texts).toContain('expedited RCU, not the lesson');
  expect(layout.lanes[0]!.strips.map((line) => line.labelAbove)).toEqual([true, true, true]);
});

test('without, they stand on them, the lesson alone is drawn, and the axis is within the canvas', () => {
  const { texts, words, layout } = drawn(215);
  const strips = layout.lanes[0]!.strips;
  expect(strips.map((line) => [line.label, line.labelOn])).toEqual([
    ['SRCU grace period', true],
    ['callbacks', true],
  ]);
  expect(texts.some((one) => one?.includes('expedited'))).toBe(false);
  expect(layout.axisY).toBeLessThan(215);
  // "armed" begins behind the name of its line.
  const name = words.find((s) => s.text === 'SRCU grace period')!;
  const armed = words.find((s) => s.text === 'armed')!;
  expect(armed.at[0]!).toBeGreaterThan(name.at[0]! + 60);
});

test('one row alone is large', () => {
  const lone = indexOf('rwsem\n  storm-0  RRRRRRRRRR');
  const high = (of: typeof index) =>
    pictureOf(of, frameOver(0, 10, 10), { width: 900, height: 420, dpr: 1 }, score).layout.lanes[0]!
      .rows[0]!.height;
  expect(high(lone)).toBeGreaterThan(high(index) * 1.5);
});
