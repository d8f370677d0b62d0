// SPDX-License-Identifier: GPL-2.0-or-later
/** What a lesson's author must know of a view. `make contract` writes it down for `./duet views` and `./duet lint`. */

import type { KindFacts } from '../derive/types.ts';

/** Name -> one sentence. */
export type Texts = Readonly<Record<string, string>>;

/** The names must be those of the view itself, no more and no less: tools/views.ts compares them. */
export interface About {
  /** What the picture shows. */
  readonly draws: string;
  /** What a lesson must declare for it, a sentence each. */
  readonly needs: readonly string[];
  /** Points that a lesson must declare -> their fields, in order. */
  readonly points?: Readonly<Record<string, readonly string[]>>;
  /** Layers of which it draws every kind that a lesson declares. */
  readonly layers?: readonly KindFacts['layer'][];
  /**
   * Kinds of the layer `mark` that it draws, by their names; a lesson gives them titles and colours. 'points': those
   * that are called like a point of the lesson.
   */
  readonly marks?: readonly string[] | 'points';
  /** A layer that is drawn only where a step has the kind in `focus`, but for kinds of these colours. */
  readonly onlyInFocus?: {
    readonly layer: KindFacts['layer'];
    readonly but: readonly KindFacts['colour'][];
  };
  readonly sentences: Texts;
  readonly moments?: Texts;
  readonly answers?: Texts;
  readonly panels?: Texts;
  /** Parts of the picture that `show` asks for; without `show` all. */
  readonly parts?: Texts;
  /** Knobs with `applies: model` that it reads: numbers of its model. */
  readonly knobs?: Texts;
  /** Toys that a step may offer. */
  readonly toys?: Texts;
  /** What `references` may be of. */
  readonly quantities?: Texts;
  /** What the table of counts has for each lane. */
  readonly counts?: string;
}

/** Names that every lesson may use, whatever its view. */
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
