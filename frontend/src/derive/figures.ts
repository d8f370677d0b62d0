// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Figures in texts. Code that writes a figure also records its quantity, the part of the run that it covers, and its
 * mark. The text itself stays a string; `collect` returns the figures in it. The page outlines the marks of these
 * figures. A test checks that figures shown at the same moment do not contradict each other (test/figures).
 */

import { t } from '../base/lang/t.ts';
import { formatCount, formatNs } from '../base/units.ts';
import type { Mark, Region } from './types.ts';

/**
 * The part of the run that a figure covers. The first three scopes need no explanation in the text; for all others, the
 * text names the part of the run.
 * - `mark`: the complete mark, including any part outside the window
 * - `now`: the state at the moment
 * - `setup`: parameters of the run, which are the same at every moment
 * - `operation`: the current operation up to the moment; if none is running, the previous operation
 * - `window`: the complete window; `recent`: the time just before the moment
 * - `far`: the run up to the moment; `run`: the complete run; `model`: a model's result for the complete run
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
  /** Name of the quantity. Identical quantities have the same name, even if different code writes them. */
  readonly what: string;
  readonly value: number;
  readonly text: string;
  readonly mark: Mark | null;
}

/** The frozen texts while a picture moves, by quantity; null if nothing is frozen. */
let held: Map<string, string> | null = null;

/**
 * Call `make` while figures are frozen. If `texts` contains a figure, the stored text is used; otherwise the figure's
 * text is added to `texts`. If `texts` is null, nothing is frozen.
 */
export function withFrozenFigures<T>(texts: Map<string, string> | null, make: () => T): T {
  const outer = held;
  held = texts;
  try {
    return make();
  } finally {
    held = outer;
  }
}

/** Return the frozen text for the key `what`. If there is none yet, `text` becomes the frozen text. */
export function frozenText(what: string, text: string): string {
  if (held === null) return text;
  const known = held.get(what);
  if (known === undefined) held.set(what, text);
  return known ?? text;
}

/**
 * Replace the number in a text by #. The same figure can be written as "3" and as "3 visits", and each form is frozen
 * separately.
 */
function form(text: string): string {
  return text.replaceAll(/\d[\d,.]*/g, '#');
}

interface Collected {
  readonly figures: Figure[];
  readonly regions: Region[];
}

let collected: Collected | null = null;

/** Record a figure and return its text. */
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
  return frozenText(`${scope} ${arm} ${what} ${of} ${form(text)}`, text);
}

/** The duration of a complete mark, as a figure. */
export function lengthOf(mark: Mark): string {
  const value = mark.t1 - mark.t0;
  return figure('mark', mark.arm, 'length', value, formatNs(value), mark);
}

/** The time from the start of a mark to `at`, as a figure. */
export function sinceBegin(mark: Mark, at: number): string {
  const value = at - mark.t0;
  return figure('now', mark.arm, t('since its start'), value, formatNs(value), mark);
}

/** Record that a text is about a region of the picture, and return the text. */
export function about(arm: string, name: string, text: string): string {
  const known = collected?.regions.some((one) => one.arm === arm && one.name === name);
  if (known === false) collected?.regions.push({ arm, name });
  return text;
}

/** Call `make` and return its result, with the figures that `make` wrote and the regions that it mentioned. */
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

/** The marks of the figures, without duplicates. */
export function marksOf(figures: readonly Figure[]): readonly Mark[] {
  const found = new Map<string, Mark>();
  for (const { mark } of figures)
    if (mark !== null)
      found.set(`${mark.arm} ${mark.table} ${mark.kind} ${mark.row} ${mark.id}`, mark);
  return [...found.values()];
}
