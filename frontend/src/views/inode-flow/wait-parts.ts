// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What a wait for a grace period is made of, where the cookie is looked at once (cond_synchronize_rcu() of 6.1): the
 * rest of the one that goes on, the whole of the next, and the time until the sleeper runs.
 */

import type { Pen } from '../paints.ts';
import { type Easel, say } from './ink.ts';
import { type LaneBox, type Layout, xOf } from './layout.ts';
import { type Graces, never } from './lives.ts';
import type { Shape } from './shapes.ts';

export interface WaitPart {
  readonly t0: number;
  readonly t1: number;
  /** 1: the rest of one grace period, 2: the whole of another, 3: until it runs. */
  readonly nth: 1 | 2 | 3;
}

/** Parts of a wait from `t0` to `t1` in order; those that it does not have are left out. */
export function partsOf({ begins, ends }: Graces, t0: number, t1: number): readonly WaitPart[] {
  const inside = [...ends.keys()].filter((i) => ends[i]! > t0 && ends[i]! <= t1);
  const [first] = inside;
  if (first === undefined) return [];
  const parts: WaitPart[] = [];
  const goesOn = begins[first]! < t0;
  if (goesOn) parts.push({ t0, t1: ends[first]!, nth: 1 });
  const own = goesOn ? inside[1] : first;
  if (own === undefined) return parts;
  parts.push({ t0: goesOn ? ends[first]! : t0, t1: ends[own]!, nth: 2 });
  if (t1 > ends[own]!) parts.push({ t0: ends[own]!, t1, nth: 3 });
  return parts;
}

/** Height of a number, at 13 px text. */
const numberHigh = 12;
/** Half of that of words on a plate. */
const halfPlate = 8;

/** Where words may stand that are as high as the middle of the wait, clear of its numbers; px. */
export function clearOf(
  { layout, box }: { readonly layout: Layout; readonly box: LaneBox },
  wait: Shape,
  parts: readonly WaitPart[],
  em: number,
): readonly [from: number, to: number] {
  const high = wait.h >= 2 * (numberHigh + halfPlate) * em || wait.h < numberHigh * em;
  if (parts.length === 0 || high) return [wait.x0, wait.x1];
  const spaces = parts.map(({ t0, t1 }): readonly [number, number] => [
    Math.max(xOf(layout, box, t0), layout.left) + numberHigh * em,
    Math.min(xOf(layout, box, t1), layout.revealX),
  ]);
  return spaces.toSorted(([a, b], [c, d]) => d - c - (b - a))[0]!;
}

/** A line between two parts, and the number of each where it has room. */
export function drawParts(
  pen: Pen,
  { layout, box }: { readonly layout: Layout; readonly box: LaneBox },
  wait: Shape,
  parts: readonly WaitPart[],
  easel: Easel,
): void {
  const { theme, em } = easel;
  const room = numberHigh * em;
  if (wait.h < room || wait.mark.t1 === never) return;
  for (const { t0, t1, nth } of parts) {
    const [x0, x1] = [xOf(layout, box, t0), xOf(layout, box, t1)];
    if (x1 < layout.left || x0 > layout.revealX) continue;
    if (nth > 1) {
      pen.fillStyle = theme.ink;
      pen.fillRect(Math.round(x0) - 1, wait.y, 2, wait.h);
    }
    // Clear of the line, so that a short part's number and the next one are not read as one.
    const x = Math.max(x0, layout.left) + (nth > 1 ? 3 : 0);
    const wide = Math.min(room - 3, x1 - x - 3);
    if (wide < room * 0.55) continue;
    pen.fillStyle = theme.ink;
    pen.fillRect(x, wait.y + wait.h - room, wide, room);
    const y = wait.y + wait.h - room / 2 + 0.5;
    say(pen, easel, String(nth), x + wide / 2, y, 'center', theme.paper, 600);
  }
}
