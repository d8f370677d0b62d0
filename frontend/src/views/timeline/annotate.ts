// SPDX-License-Identifier: GPL-2.0-or-later
/** Few hogs leave room for words: operations are named over their row, functions under it. */

import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { lengthOf } from '../../derive/figures.ts';
import { touching } from '../../derive/query.ts';
import type { Mark, RunIndex } from '../../derive/types.ts';
import { shortTitle } from '../../derive/words.ts';
import { openFunctions } from './bands.ts';
import { opMark, spanMark } from './hit.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { Line } from './lines.ts';
import { stylesFor } from './styles.ts';

export interface Note {
  /** A bracket from x0 to x1, open towards the row. */
  readonly x0: number;
  readonly x1: number;
  readonly y: number;
  /** Under the row, not over it. */
  readonly under: boolean;
  readonly words: string;
}

const leastPx = 24;
const most = 40;

/** Operations that touch the window, over their rows. */
export function operationNotes(layout: Layout, box: LaneBox, name: string): Note[] {
  if (!box.annotated) return [];
  const { ops, opsByEnd } = box.lane;
  const { order, length } = opsByEnd;
  const end = box.t0 + (layout.right - layout.left) * layout.nsPerPx;
  const notes: Note[] = [];
  const rows = new Map(box.rows.map((row) => [row.row, row]));
  const x = (t: number) => layout.left + (t - box.t0) / layout.nsPerPx;
  let p = firstAtLeast(length, (i) => ops.t1[order[i]!]!, box.t0);
  for (; p < length && notes.length < most; p++) {
    const i = order[p]!;
    const row = rows.get(ops.row[i]!);
    // Ends rise; an operation that ends after the window may still begin in it.
    if (ops.t1[i]! > end + (end - box.t0)) break;
    const [x0, x1] = [x(ops.t0[i]!), x(ops.t1[i]!)];
    if (row === undefined || x0 > layout.right || x1 - x0 < leastPx) continue;
    const words = `${name}, ${lengthOf(opMark(box.lane, i))}`;
    notes.push({ x0, x1, y: row.top - 6, under: false, words });
  }
  return notes;
}

/** Functions in focus, under their rows, where a bracket is wide enough to be read. Their lengths are whole. */
export function functionNotes(
  index: RunIndex,
  layout: Layout,
  box: LaneBox,
  focus: ReadonlySet<string>,
): Note[] {
  if (!box.annotated) return [];
  const { lane, t0 } = box;
  const styles = stylesFor(index.kinds, 'brackets');
  const width = layout.right - layout.left;
  const x = (t: number) => layout.left + Math.max(0, Math.min(width, (t - t0) / layout.nsPerPx));
  const notes: Note[] = [];
  const add = (row: Line, mark: Mark) => {
    const kind = index.kinds[mark.kind]!;
    const [x0, x1] = [x(mark.t0), x(mark.t1)];
    if (styles[mark.kind]!.texture !== 'bracket' || !focus.has(kind.name)) return;
    if (x1 - x0 < leastPx || notes.length >= most) return;
    const words = `${shortTitle(kind)}, ${lengthOf(mark)}${mark.open ? tr(' so far') : ''}`;
    notes.push({ x0, x1, y: row.top + row.height + 4, under: true, words });
  };
  for (const row of box.rows) {
    const strand = lane.strand(row.row, 'function');
    if (strand !== null) {
      const { from, to } = touching(lane.spans, strand, t0, t0 + width * layout.nsPerPx);
      // In a crowd no bracket is drawn.
      if (to - from > width / 3) continue;
      for (let p = from; p < to; p++) add(row, spanMark(lane, strand.order[p]!, false));
    }
    for (const i of openFunctions(lane, row.row)) add(row, spanMark(lane, i, true));
  }
  return notes;
}
