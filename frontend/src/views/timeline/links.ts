// SPDX-License-Identifier: GPL-2.0-or-later
/** Who frees whom: lines from one row to another at one moment. */

import { firstAtLeast } from '../../base/columns.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { Line } from './lines.ts';

/** One link, from the row that emits it to the row it points at. */
export interface LinkLine {
  readonly x: number;
  readonly fromY: number;
  readonly toY: number;
  /** Frame time, for the afterglow. */
  readonly t: number;
  readonly id: number;
}

/** More cannot be distinguished, and none are drawn. */
const mostLinks = 1200;

export interface Links {
  readonly links: readonly LinkLine[];
  /** There are more than can be distinguished; none are drawn. */
  readonly linksHidden: number;
}

/** Links of the window. */
export function linksOf(layout: Layout, box: LaneBox, rowsOf: ReadonlyMap<number, Line>): Links {
  const { lane } = box;
  const { order, length } = lane.linksByTime;
  const end = box.t0 + (layout.right - layout.left) * layout.nsPerPx;
  const links: LinkLine[] = [];
  let n = 0;
  const first = firstAtLeast(length, (p) => lane.links.t[order[p]!]!, box.t0);
  for (let p = first; p < length; p++) {
    const i = order[p]!;
    const t = lane.links.t[i]!;
    if (t > end) break;
    n += 1;
    if (n > mostLinks) continue;
    const from = rowsOf.get(lane.links.from[i]!);
    const to = rowsOf.get(lane.links.to[i]!);
    if (to === undefined) continue;
    links.push({
      x: layout.left + (t - box.t0) / layout.nsPerPx,
      fromY: edgeTowards(from, to, box),
      toY: to.top + to.height / 2,
      t,
      id: lane.links.id[i]!,
    });
  }
  return n > mostLinks ? { links: [], linksHidden: n } : { links, linksHidden: 0 };
}

/** The edge of the row a link comes from that faces the row it goes to. */
function edgeTowards(from: Line | undefined, to: Line, box: LaneBox): number {
  if (from === undefined) return box.bottom;
  return from.top >= to.top ? from.top : from.top + from.height;
}
