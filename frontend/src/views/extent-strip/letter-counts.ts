// SPDX-License-Identifier: GPL-2.0-or-later
/** Left of a lane's boxes: how many entries there are of each letter. */

import { figure } from '../../derive/figures.ts';
import type { Drawing } from '../contract.ts';
import type { Pen } from '../paints.ts';
import { letters } from './block-replay.ts';
import { cellAt, type Grid, type StripLane, type StripLayout } from './layout.ts';
import type { LaneNow } from './now.ts';

/** Behind the number of a letter that begins no row: its first box stands further on in this one. */
const furtherOn = ' →';

/** The row that begins with a letter; where none does, that of its first box, with an arrow. */
function rowOfLetter(
  grid: Grid,
  { letter: of }: LaneNow['boxes'],
  letter: number,
): { readonly row: number; readonly begins: boolean } | null {
  const first = of.indexOf(letter);
  if (first < 0) return null;
  for (let row = 0; row < grid.rows; row++)
    if (of[row * grid.columns] === letter) return { row, begins: true };
  return { row: Math.floor(first / grid.columns), begins: false };
}

/** How many entries there are of each letter, beside the row that begins with it. */
export function countLetters(
  pen: Pen,
  { fontSize, gutter }: StripLayout,
  { grid }: StripLane,
  { theme }: Drawing,
  { lane, boxes }: LaneNow,
): void {
  const found = letters.flatMap((name, letter) => {
    const at = letter === 0 ? null : rowOfLetter(grid, boxes, letter);
    return at === null ? [] : [{ name, letter, ...at }];
  });
  pen.save();
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  let lowest = Number.NEGATIVE_INFINITY;
  for (const { name, letter, row, begins } of found.sort((a, b) => a.row - b.row)) {
    let n = 0;
    for (let box = 0; box < grid.boxes; box++)
      if (boxes.letter[box] === letter && boxes.there[box] === 1) n += 1;
    const { y } = cellAt(grid, row * grid.columns);
    const at = Math.max(lowest + fontSize * 1.4, y + grid.high / 2 + 0.5);
    lowest = at;
    const number = `${figure('now', lane.arm, `letter ${letter} there`, n)}${begins ? '' : furtherOn}`;
    pen.font = `${fontSize}px ${theme.font}`;
    pen.fillStyle = theme.soft;
    pen.fillText(number, gutter - 9, at);
    const width = pen.measureText(number).width;
    pen.font = `600 ${fontSize}px ${theme.mono}`;
    pen.fillText(name, gutter - 9 - width - 6, at);
  }
  pen.restore();
}
