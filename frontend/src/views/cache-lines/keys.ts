// SPDX-License-Identifier: GPL-2.0-or-later
/** How the arrow keys go among the marks: fields, copies, accesses, the executed order, then the next lane. */

import type { Mark } from '../../derive/types.ts';
import type { ArrowKey, Drawing } from '../contract.ts';
import { runsOf } from './byte-runs.ts';
import type { LinesLane, LinesLayout } from './layout.ts';
import {
  byteMark,
  copyMark,
  executedMark,
  type Part,
  type Place,
  partOfMark,
  stepMark,
} from './marks.ts';
import { laneNow } from './now.ts';

/** One row that left and right go along; up and down go from row to row. */
interface Row {
  readonly length: number;
  readonly mark: (at: number) => Mark | null;
  /** Place of a mark in the row; -1: it is not of this row. */
  readonly find: (mark: Mark, part: Part | null) => number;
  /** Where to come in. */
  readonly first: number;
}

function rowsOf(place: Place): Row[] {
  const { shown } = place;
  const rows: Row[] = [];
  const { struct, model, done } = shown;
  for (const runs of struct === null ? [] : runsOf(struct))
    rows.push({
      length: runs.length,
      mark: (at) => byteMark(place, runs[at]!.at),
      find: (mark, part) => (part === 'byte' ? runs.findIndex((run) => run.at === mark.row) : -1),
      first: 0,
    });
  if (model === null) return rows;
  const { lines, cpus } = model.trace.log;
  for (let line = 0; line < lines; line++)
    rows.push({
      length: cpus,
      mark: (cpu) => copyMark(place, line, cpu),
      find: (mark, part) =>
        part === 'copy' && Math.floor(mark.row / 64) === line ? mark.row % 64 : -1,
      first: 0,
    });
  const total = shown.lane.pointsOf('access').length;
  const steps = (
    length: number,
    of: (k: number) => Mark | null,
    own: (part: Part | null) => boolean,
  ): Row => ({
    length,
    mark: of,
    find: (mark, part) => (own(part) ? mark.row : -1),
    first: length - 1,
  });
  rows.push(
    steps(
      done,
      (k) => stepMark(place, k, true),
      (part) => part === 'access' || part === 'way',
    ),
  );
  if (place.laid.executed.h === 0) return rows;
  rows.push(
    steps(
      Math.min(total, done),
      (k) => executedMark(place, k),
      (part) => part === 'executed',
    ),
  );
  return rows;
}

export function stepLines(
  layout: LinesLayout,
  drawing: Drawing,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const at = Math.max(
    0,
    layout.lanes.findIndex((one) => one.arm === from?.arm),
  );
  const place = placeOf(layout, drawing, layout.lanes[at]);
  if (place === null) return null;
  const rows = rowsOf(place).filter((row) => row.length > 0);
  const part = from === null ? null : partOfMark(drawing.lesson, from);
  const r = from === null ? -1 : rows.findIndex((row) => row.find(from, part) >= 0);
  if (from === null || r < 0) return hotMark(place) ?? rows[0]?.mark(rows[0].first) ?? null;
  const row = rows[r]!;
  const column = row.find(from, part);
  if (key === 'ArrowLeft' || key === 'ArrowRight' || key === 'Home' || key === 'End') {
    const to = {
      ArrowLeft: column - 1,
      ArrowRight: column + 1,
      Home: 0,
      End: row.length - 1,
    }[key];
    return to < 0 || to >= row.length ? from : (row.mark(to) ?? from);
  }
  const by = key === 'ArrowDown' ? 1 : -1;
  const next = rows[r + by];
  if (next !== undefined) {
    // From copies to copies the CPU stays the same.
    const same = next.length === row.length ? column : next.first;
    return next.mark(same) ?? from;
  }
  const other = placeOf(layout, drawing, layout.lanes[at + by]);
  if (other === null) return from;
  const others = rowsOf(other).filter((one) => one.length > 0);
  const entry = by > 0 ? others[0] : others.at(-1);
  return entry?.mark(entry.first) ?? from;
}

/** The first that is worth a look: what everybody writes. */
function hotMark(place: Place): Mark | null {
  const { struct } = place.shown;
  return struct?.hot ? byteMark(place, struct.hot.at) : null;
}

function placeOf(layout: LinesLayout, drawing: Drawing, laid: LinesLane | undefined): Place | null {
  const lane = drawing.index.lanes.find((one) => one.arm === laid?.arm);
  if (laid === undefined || lane === undefined) return null;
  return { layout, laid, drawing, shown: laneNow(drawing, lane) };
}
