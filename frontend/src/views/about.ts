// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Facts about a view for authors of lessons. `make contract` writes them to a file that `./duet views` prints and
 * `./duet lint` checks.
 */

import type { KindFacts } from '../derive/types.ts';

/** Maps a name to one sentence. */
export type Texts = Readonly<Record<string, string>>;

/** The names listed in it must be exactly those that the view exports; tools/views.ts compares them. */
export interface About {
  /** What the picture shows. */
  readonly draws: string;
  /** One sentence for each declaration that the view needs from a lesson. */
  readonly needs: readonly string[];
  /** Points that a lesson must declare, each with its fields in order. */
  readonly points?: Readonly<Record<string, readonly string[]>>;
  /** Layers of which the view draws all kinds. */
  readonly layers?: readonly KindFacts['layer'][];
  /**
   * Kinds of the layer `mark` that the view draws, by name. A lesson gives them titles and colours. 'points' stands for
   * all kinds that are named like a point of the lesson.
   */
  readonly marks?: readonly string[] | 'points';
  /** A layer whose kinds are drawn only if the step has them in `focus`. Kinds with these colours are always drawn. */
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
  /** What the table of counts contains, per lane. */
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
