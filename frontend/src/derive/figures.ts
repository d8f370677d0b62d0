// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Figures as they are written. Whoever writes a number says what it counts, of which part of the run, and of which
 * mark. The text stays a string; whoever collects gets the figures that went into it: the page outlines their marks,
 * and a test finds no two of one moment that disagree (test/figures).
 */

import { t } from '../base/lang/t.ts';
import { formatCount, formatNs } from '../base/units.ts';
import type { Mark, Region } from './types.ts';

/**
 * Of which part of the run a figure speaks. The first three are plain; each other one is named in words next to it.
 *
 * - `mark`: the whole mark, whatever of it is in sight
 * - `now`: as it stands at the moment
 * - `setup`: what the run was given, the same at every moment
 * - `operation`: the operation that is under way, up to the moment; the one before while none is
 * - `window`: the whole window; `recent`: the time just before the moment
 * - `far`: the run up to the moment; `run`: all of it; `model`: what a model makes of all of it
 */
export type Scope =
  | 'mark'
  | 'now'
  | 'setup'
  | 'operation'
  | 'window'
  | 'recent'
  | 'far'
  | 'run'
  | 'model';

export interface Figure {
  readonly scope: Scope;
  readonly arm: string;
  /** What is counted or how long it lasts; equal for equal things, whoever writes them. */
  readonly what: string;
  readonly value: number;
  readonly text: string;
  readonly mark: Mark | null;
}

/** Texts that stand still while a picture moves, by what they say; null: each is of its own moment. */
let held: Map<string, string> | null = null;

/**
 * Draws with figures that stand still: those that are in `texts` already keep the text that they have there, new ones
 * go in. Null: every figure is of its own moment.
 */
export function holding<T>(texts: Map<string, string> | null, make: () => T): T {
  const outer = held;
  held = texts;
  try {
    return make();
  } finally {
    held = outer;
  }
}

/** A text that stands still with the figures; `what` says which it is. */
export function steady(what: string, text: string): string {
  if (held === null) return text;
  const known = held.get(what);
  if (known === undefined) held.set(what, text);
  return known ?? text;
}

/** One number is written in several ways: "3", "3 visits". */
function form(text: string): string {
  return text.replaceAll(/\d[\d,.]*/g, '#');
}

interface Collected {
  readonly figures: Figure[];
  readonly regions: Region[];
}

let collected: Collected | null = null;

/** The text of a figure. */
export function figure(
  scope: Scope,
  arm: string,
  what: string,
  value: number,
  text = formatCount(value),
  mark: Mark | null = null,
): string {
  collected?.figures.push({ scope, arm, what, value, text, mark });
  if (held === null) return text;
  const of = mark === null ? '' : `${mark.table} ${mark.kind} ${mark.row} ${mark.id}`;
  return steady(`${scope} ${arm} ${what} ${of} ${form(text)}`, text);
}

/** How long a mark is, all of it. */
export function lengthOf(mark: Mark): string {
  const value = mark.t1 - mark.t0;
  return figure('mark', mark.arm, 'length', value, formatNs(value), mark);
}

/** How long ago a mark began, or how long it has lasted so far. */
export function sinceBegin(mark: Mark, at: number): string {
  const value = at - mark.t0;
  return figure('now', mark.arm, t('since its start'), value, formatNs(value), mark);
}

/** Words that speak of a part of the picture rather than of a mark. */
export function about(arm: string, name: string, text: string): string {
  const known = collected?.regions.some((one) => one.arm === arm && one.name === name);
  if (known === false) collected?.regions.push({ arm, name });
  return text;
}

/** What `make` gives, the figures that it wrote, and the parts of the picture that it speaks of. */
export function collect<T>(make: () => T): {
  readonly made: T;
  readonly figures: readonly Figure[];
  readonly regions: readonly Region[];
} {
  const outer = collected;
  const here: Collected = { figures: [], regions: [] };
  collected = here;
  try {
    return { made: make(), ...here };
  } finally {
    collected = outer;
  }
}

/** The marks that figures speak of, each once. */
export function marksOf(figures: readonly Figure[]): readonly Mark[] {
  const found = new Map<string, Mark>();
  for (const { mark } of figures)
    if (mark !== null)
      found.set(`${mark.arm} ${mark.table} ${mark.kind} ${mark.row} ${mark.id}`, mark);
  return [...found.values()];
}
