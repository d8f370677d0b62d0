// SPDX-License-Identifier: GPL-2.0-or-later
/** Few hogs leave room for words: operations are named over their row, functions under it. */

import { firstAtLeast } from '../../base/search.ts';
import { formatNs } from '../../base/units.ts';
import type { RunIndex } from '../../derive/types.ts';
import { shortTitle } from '../../derive/words.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { LaneMarks } from './marks.ts';

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
    const words = `${name}, ${formatNs(ops.t1[i]! - ops.t0[i]!)}`;
    notes.push({ x0, x1, y: row.top - 6, under: false, words });
  }
  return notes;
}

/** Functions in focus, under their rows, where a bracket is wide enough to be read. */
export function functionNotes(
  index: RunIndex,
  layout: Layout,
  box: LaneBox,
  marks: LaneMarks,
  focus: ReadonlySet<string>,
): Note[] {
  if (!box.annotated) return [];
  const notes: Note[] = [];
  for (const { style, at, n } of marks.rects) {
    const kind = index.kinds[style.kind]!;
    if (style.texture !== 'bracket' || !focus.has(kind.name)) continue;
    for (let i = 0; i < n * 4 && notes.length < most; i += 4) {
      const [x0, y, w, h] = [at[i]!, at[i + 1]!, at[i + 2]!, at[i + 3]!];
      if (w < leastPx) continue;
      const words = `${shortTitle(kind)}, ${formatNs(w * layout.nsPerPx)}`;
      notes.push({ x0, x1: x0 + w, y: y + h + 4, under: true, words });
    }
  }
  return notes;
}
