// SPDX-License-Identifier: GPL-2.0-or-later
/** The ways of lines that travel, and of the word that copies must go: where they are drawn, and which is at a point. */

import type { Easel } from './easel.ts';
import { type Access, accessAt, glowSteps, happening, type LaneNow } from './now.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

type Laid = Pick<Easel, 'laid' | 'layout'>;
type Pair = readonly [from: Point, to: Point];

function middleOf({ laid }: Pick<Easel, 'laid'>, cpu: number, line: number): Point | null {
  const box = laid.cards[cpu]?.slots[line];
  return box === undefined ? null : { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}

/** Where a line comes to a copy, or leaves it: a small one, in which a letter stands, at its upper edge. */
function doorOf({ laid, layout }: Laid, cpu: number, line: number): Point | null {
  const middle = middleOf({ laid }, cpu, line);
  const top = laid.cards[cpu]?.slots[line]?.y;
  return layout.strips || middle === null || top === undefined ? middle : { x: middle.x, y: top };
}

/** Where a line comes from and goes to: from another CPU's copy, or from the bytes of the line. */
export function ends(place: Laid, access: Access): Pair | null {
  const { laid, layout } = place;
  const goal = doorOf(place, access.cpu, access.line);
  if (goal === null) return null;
  if (happening(access) === 'transfer') {
    const from = doorOf(place, access.from, access.line);
    return from === null ? null : [from, goal];
  }
  const line = laid.lines[access.line];
  if (line === undefined) return null;
  return [{ x: goal.x, y: line.y + layout.high + 6 }, goal];
}

/** An upgrade sends word to each CPU that may have a copy. */
export function upgradeEnds({ laid }: Pick<Easel, 'laid'>, { cpu, line }: Access): readonly Pair[] {
  const from = middleOf({ laid }, cpu, line);
  if (from === null) return [];
  return laid.cards.flatMap((card): Pair[] => {
    const to = card.cpu === cpu ? null : middleOf({ laid }, card.cpu, line);
    return to === null ? [] : [[from, { x: to.x, y: from.y }]];
  });
}

/** A point of the way, which bends upwards between two CPUs. */
export function along(from: Point, to: Point, part: number, rise: number): Point {
  const bend = from.y === to.y ? Math.sin(part * Math.PI) * rise : 0;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part - bend };
}

export function riseOf({ layout }: Pick<Easel, 'layout'>, from: Point, to: Point): number {
  const far = Math.abs(to.x - from.x);
  return layout.strips ? 0 : Math.min(26, 6 + far / 10);
}

/** Pieces of the way of an access that moves something. */
function piecesOf(place: Laid, access: Access): readonly Pair[] {
  if (happening(access) === 'upgrade') return upgradeEnds(place, access);
  const both = ends(place, access);
  if (both === null) return [];
  const [from, to] = both;
  const rise = riseOf(place, from, to);
  const steps = rise === 0 ? 1 : 12;
  const at = (i: number) => along(from, to, i / steps, rise);
  return Array.from({ length: steps }, (_, i): Pair => [at(i), at(i + 1)]);
}

function distance({ x, y }: Point, [a, b]: Pair): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const long = dx * dx + dy * dy;
  const part = long === 0 ? 0 : Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / long));
  return Math.hypot(x - a.x - part * dx, y - a.y - part * dy);
}

/** A pointer is on a way that is so near, px. */
const reach = 5;

/** The access whose way is at a point: the one under way, else the newest of those whose ways still fade. */
export function wayAt(
  place: Laid & { readonly shown: LaneNow },
  at: Point,
  within = reach,
): Access | null {
  const { under, done, model, lane } = place.shown;
  if (model === null) return null;
  const past = Array.from({ length: Math.min(glowSteps, done) }, (_, age) => done - 1 - age);
  const drawn = [...(under === null ? [] : [under]), ...past.map((k) => accessAt(lane, model, k))];
  const near = (access: Access) =>
    happening(access) !== 'hit' &&
    piecesOf(place, access).some((one) => distance(at, one) <= within);
  return drawn.find(near) ?? null;
}
