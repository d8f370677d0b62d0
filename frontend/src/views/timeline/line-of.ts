// SPDX-License-Identifier: GPL-2.0-or-later
/** On which line of the picture a mark stands, and where in it. */

import { firstAtLeast } from '../../base/columns.ts';
import { isStale } from '../../derive/query.ts';
import type { KindFacts, LaneIndex, Mark, Strand } from '../../derive/types.ts';
import type { LaneBox } from './layout.ts';
import type { Line } from './lines.ts';
import type { Score } from './score.ts';
import { operations } from './series.ts';

/** Spans on a line that have not ended: places in `lane.open`. */
export function openOn(lane: LaneIndex, line: Line, score: Score): number[] {
  if (score.rows === 'cpus' && line.what === 'row') return [];
  const { open } = lane;
  const found: number[] = [];
  for (let i = 0; i < open.length; i++) {
    const layer = lane.layerOf(open.kind[i]!);
    if (open.row[i] !== line.row || layer === undefined || layer === 'mark') continue;
    if (onLine(layer, line, score) && !isStale(lane, layer, i)) found.push(i);
  }
  if (line.what !== 'function') return found;
  found.sort((a, b) => open.t0[a]! - open.t0[b]!);
  return found.slice(line.depth, line.depth + 1);
}

function onLine(layer: KindFacts['layer'], line: Line, score: Score): boolean {
  if (line.what === 'track') return layer === 'track';
  if (line.what === 'function') return layer === 'function';
  return layer === 'state' || (layer === 'function' && score.look.functions === 'brackets');
}

/** The line on which a mark stands; null: it is not shown. */
export function lineOf(box: LaneBox, mark: Mark, score: Score): Line | null {
  if (mark.table === 'points') {
    const name = score.points[mark.kind]?.name ?? '';
    const counter = score.counters.find(({ point }) => point === name)?.name;
    return (
      box.lines.find((l) => l.what === 'point' && l.points.includes(name)) ??
      box.lines.find((l) => l.what === 'counter' && l.points[0] === counter) ??
      null
    );
  }
  if (mark.table === 'ops' || mark.table === 'samples') {
    const name = mark.table === 'ops' ? operations : score.counters[mark.kind]?.name;
    return (
      box.lines.find((l) => l.what === 'counter' && l.points[0] === name) ??
      box.rows.find(
        (l) => mark.table === 'ops' && score.rows === 'threads' && l.row === mark.row,
      ) ??
      null
    );
  }
  const layer = box.lane.layerOf(mark.kind);
  if (layer === undefined) return null;
  const row = score.rows === 'cpus' && layer === 'state' ? cpuOf(box.lane, mark) : mark.row;
  const of = box.lines.filter((l) => l.row === row && onLine(layer, l, score));
  if (of[0]?.what !== 'function') return of[0] ?? null;
  return of.find((l) => holds(box.lane, l, mark, score)) ?? null;
}

function cpuOf(lane: LaneIndex, mark: Mark): number {
  const strand = lane.strand(mark.row, 'state');
  const p = strand === null ? -1 : placeIn(lane, strand, mark);
  return p < 0 ? -1 : lane.spans.cpu[strand!.order[p]!]!;
}

function holds(lane: LaneIndex, line: Line, mark: Mark, score: Score): boolean {
  if (mark.open) return openOn(lane, line, score).some((i) => lane.open.id[i] === mark.id);
  return line.strand !== null && placeIn(lane, line.strand, mark) >= 0;
}

/** Where a mark stands in a strand; -1: nowhere. */
export function placeIn(lane: LaneIndex, strand: Strand, mark: Mark): number {
  const at = (p: number) => lane.spans.t0[strand.order[p]!]!;
  for (let p = firstAtLeast(strand.length, at, mark.t0); p < strand.length; p++) {
    if (at(p) > mark.t0) return -1;
    if (lane.spans.id[strand.order[p]!] === mark.id) return p;
  }
  return -1;
}
