// SPDX-License-Identifier: GPL-2.0-or-later
/** The band of the processes: one has all of its height, several share it. */

import { lightTheme } from '@page/base/theme.ts';
import { expect, test } from 'vitest';
import { inodeFrame, inodeIndex, inodeLesson } from './fixtures/inodes.ts';
import { layoutOf } from './layout.ts';
import { shapesOf } from './point.ts';

function strips(text: string): { readonly height: number; readonly at: readonly number[][] } {
  const index = inodeIndex(`stock\n10 fresh 7\n${text}`, 100);
  const drawing = { index, lesson: inodeLesson, theme: lightTheme, dpr: 1 };
  const size = { width: 900, height: 600, dpr: 1 };
  const layout = layoutOf({ ...drawing, size, frame: inodeFrame(0, 100, 100) }, 34, 13);
  const box = layout.lanes[0]!;
  const band = box.bands.find(({ name }) => name === 'thread')!;
  const shapes = shapesOf({ index, layout, box }, band);
  return { height: band.height - 2, at: shapes.map(({ y, h }) => [y - band.top - 1, h]) };
}

test('one process fills the band', () => {
  const { height, at } = strips('runs 0 10 20');
  expect(at).toEqual([[0, height]]);
});

test('processes that run at once lie above each other', () => {
  const { height, at } = strips('runs 0 10 50\nruns 1 20 60\nruns 2 30 70\nruns 3 30 70');
  const h = height / 4;
  expect(at).toEqual([
    [0, h],
    [h, h],
    [2 * h, h],
    [3 * h, h],
  ]);
});
