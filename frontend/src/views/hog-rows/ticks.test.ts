// SPDX-License-Identifier: GPL-2.0-or-later
/** Ticks are where recorded delays ended, and a tick that ended one looks different from the others; who is idle has none. */

import { expect, test } from 'vitest';
import { cell, frameOver, indexOf } from '../../../test/fixtures/drawing.ts';
import { testLesson } from '../../../test/fixtures/lesson.ts';
import { recordingPen } from '../../../test/fixtures/pen.ts';
import { lightTheme } from '../../base/theme.ts';
import type { RunIndex } from '../../derive/types.ts';
import { namedTiles } from '../paints.ts';
import { pictureOf } from '../timeline/artist.ts';
import { drawPicture } from '../timeline/draw.ts';
import { scoreOf } from '../timeline/score.ts';
import { hogLook } from './look.ts';
import { ticksOf } from './ticks.ts';

// A tick is 40 cells. Each round two ticks end a delay and one does not; a quick round in the middle ends at none.
const round = {
  track: `${'A'.repeat(35)}CC${'.'.repeat(83)}`,
  calls: `${'.'.repeat(37)}${'D'.repeat(38)}W${'.'.repeat(44)}`,
};
const rounds = 8;
const drawn = (arm: string, shift = '', hog = 'R'.repeat(120 * rounds)) => `
  ${arm}
  storm-0  ${hog}
  grace-period ${shift}${round.track.repeat(rounds)}
  callbacks ${shift}${round.calls.repeat(rounds)}
`;

test('the grid lies where the long delays ended', () => {
  const index = indexOf(drawn('srcu', '.'.repeat(7)));
  expect(ticksOf(index, index.lanes[0]!)).toEqual({ at: 2 * cell, every: 40 * cell });
  // What is quick waits for no tick.
  const quick = indexOf(`srcu\nstorm-0 RRRRRRRRRR\ngrace-period ${'AAAC...'.repeat(30)}`);
  expect(ticksOf(quick, quick.lanes[0]!)).toBeNull();
});

test('a kernel of another HZ has its own distance of ticks', () => {
  const index = indexOf(drawn('srcu-hz500'));
  expect(ticksOf(index, index.lanes[0]!)?.every).toBe(20 * cell);
});

/** Marks in the row of ticks: where, from the left edge, and whether they are tall. */
function marks(index: RunIndex) {
  const score = scoreOf(testLesson, ['tracks', 'ticks'], null, 13, hogLook);
  const { pen, log } = recordingPen();
  const size = { width: 140 + 1200 + 14, height: 600, dpr: 1 };
  const picture = pictureOf(index, frameOver(0, 120, 120), size, score);
  drawPicture(pen, picture, { theme: lightTheme, tiles: namedTiles, stamp: null });
  const line = picture.layout.lanes[0]!.lines.find(({ what }) => what === 'extra')!;
  const bars = log.filter(
    ({ what, fill, at }) =>
      what === 'fillRect' &&
      fill === lightTheme.mechanism &&
      at[1]! + at[3]! === line.top + line.height,
  );
  return bars.map(({ at }) => [at[0]! + at[2]! / 2 - 140, at[3]! === line.height]);
}

test('ticks that ended a delay are tall, others short, where a hog ran', () => {
  const ended = [
    [350, true],
    [750, true],
  ];
  expect(marks(indexOf(drawn('srcu')))).toEqual([...ended, [1150, false]]);
  // Nobody ran at the third: a CPU that is idle may have no tick.
  const asleep = `${'R'.repeat(100)}${'S'.repeat(20)}`.repeat(rounds);
  expect(marks(indexOf(drawn('srcu', '', asleep)))).toEqual(ended);
});

test('without ticks there is no line for them', () => {
  const index = indexOf('rwsem\nstorm-0 RRRRRRRRRR');
  const score = scoreOf(testLesson, ['tracks', 'ticks'], null, 13, hogLook);
  const size = { width: 1000, height: 400, dpr: 1 };
  const { lanes } = pictureOf(index, frameOver(0, 10, 10), size, score).layout;
  expect(lanes[0]!.lines.map(({ what }) => what)).toEqual(['row']);
});
