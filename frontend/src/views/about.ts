// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Facts about a view for authors of lessons. `make contract` writes them to a file that `./duet views` prints and
 * `./duet lint` checks.
 */

import type { KindFacts } from '../derive/types.ts';

/** Name -> one sentence. */
export type Texts = Readonly<Record<string, string>>;

/** Its names must be exactly those that the view exports; tools/views.ts compares them. */
export interface About {
  /** What the picture shows. */
  readonly draws: string;
  /** What a lesson must declare for the view, one sentence each. */
  readonly needs: readonly string[];
  /** Points that a lesson must declare -> their fields, in order. */
  readonly points?: Readonly<Record<string, readonly string[]>>;
  /** Layers whose kinds the view draws, all of them. */
  readonly layers?: readonly KindFacts['layer'][];
  /**
   * Kinds of the layer `mark` that the view draws, by name; a lesson gives them titles and colours. 'points': kinds
   * named like a point of the lesson.
   */
  readonly marks?: readonly string[] | 'points';
  /** A layer that is drawn only if the step has the kind in `focus`, except for kinds of these colours. */
  readonly onlyInFocus?: {
    readonly layer: KindFacts['layer'];
    readonly but: readonly KindFacts['colour'][];
  };
  readonly sentences: Texts;
  readonly moments?: Texts;
  readonly answers?: Texts;
  readonly panels?: Texts;
  /** Parts of the picture that `show` can name; without `show` all are drawn. */
  readonly parts?: Texts;
  /** Knobs with `applies: model` that the view's model reads. */
  readonly knobs?: Texts;
  /** Toys that a step may offer. */
  readonly toys?: Texts;
  /** Quantities that `references` can state. */
  readonly quantities?: Texts;
  /** Content of the table of counts, per lane. */
  readonly counts?: string;
}

/** Names that every lesson may use, in any view. */
export const commonAbout = {
  sentences: { none: 'no sentence' },
  moments: {
    newest: 'the newest window with events; once the run has ended, a typical one',
    start: "the workload's start",
    first_op: 'the first operation that is like the others',
    operation: 'the operation whose number stands under `operation`',
  },
  answers: { ops_ratio: 'operations of the first arm over those of the second, in equal time' },
  show: {
    knobs: 'the knobs are open',
    patch: 'the patch, with the line that runs now',
    latency: 'how long each operation took, as dots',
    measured: 'the table of untraced runs',
    hold: 'each lane stands still after one operation',
  },
} as const satisfies Readonly<Record<string, Texts>>;
