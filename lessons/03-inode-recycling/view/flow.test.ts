// SPDX-License-Identifier: GPL-2.0-or-later
/** Cells of the population answer to the pointer as what they are drawn as. */

import { lightTheme } from '@page/base/theme.ts';
import { under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { flowCells } from './draw-flow.ts';
import { inodeFrame, inodeIndex, inodeLesson } from './fixtures/inodes.ts';
import { view } from './index.tsx';
import { layoutOf } from './layout.ts';
import { rowsOf } from './point.ts';

/** Seven is used again inside its shadow, eight lives on, nine is free inside its shadow, ten after it. */
const index = inodeIndex(`
  stock
  10 fresh 7
  12 fresh 8
  14 fresh 9
  16 fresh 10
  20 queued 10 1
  25 inactivated 10
  gp 30 40
  55 queued 7 1
  56 queued 9 1
  65 inactivated 7
  66 inactivated 9
  80 reuse 7 0
  gp 58 100
`);
const drawing = {
  ...{ index, frame: inodeFrame(0, 500, 90), lesson: inodeLesson, theme: lightTheme },
  ...{ size: { width: 1136, height: 700, dpr: 1 }, show: ['flow', 'inode'] },
};
const layout = layoutOf(drawing, 34, 13);
const box = layout.lanes[0]!;
const band = box.bands.find(({ name }) => name === 'flow')!;
const cells = flowCells(layout, box, band);

test('each is the mark that it looks like, and what lies between the places is none', () => {
  const found = cells.map(({ x, y, side }) => {
    const mark = under(rowsOf(index, layout), x + side / 2, y + side / 2);
    return mark && [mark.row, index.kinds[mark.kind]?.name];
  });
  expect(found).toEqual([
    [7, 'early'],
    [8, 'alive'],
    [9, 'shadow'],
    [10, 'free'],
  ]);
  const last = cells.at(-1)!;
  expect(under(rowsOf(index, layout), last.x + 3 * last.side, last.y + 4)).toBeNull();
});

test('cells stand where they are drawn, and the one that is pointed at has a ring', () => {
  const { pen, log } = recordingPen();
  const { x, y, side } = cells[2]!;
  const mark = under(rowsOf(index, layout), x + 2, y + 2);
  view.artist(inodeLesson, drawing.show).draw(pen, layout, drawing, mark, namedTiles);
  const squares = log.filter(({ what, at }) => what === 'fillRect' && at[2] === side);
  expect(squares.map(({ at }) => [at[0], at[1]])).toEqual(cells.map((cell) => [cell.x, cell.y]));
  const rings = log.filter(({ what, at }) => what === 'strokeRect' && at[2] === side + 3);
  expect(rings.map(({ at }) => [at[0], at[1]])).toEqual([[x - 1.5, y - 1.5]]);
});
