// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Facts about a view for authors of lessons. `make contract` writes them to a file that `./duet views` prints and
 * `./duet lint` checks.
 */

import type { KindFacts } from '../derive/types.ts';

/** Maps each name to a sentence that describes it. */
export type Texts = Readonly<Record<string, string>>;

/**
 * Facts about one view. The names listed here must be exactly those that the view exports; tools/views.ts compares
 * them.
 */
export interface About {
  /** A description of the picture. */
  readonly draws: string;
  /** One sentence for each declaration that the view requires in a lesson. */
  readonly needs: readonly string[];
  /** Points that a lesson must declare. Each point maps to its field names in order. */
  readonly points?: Readonly<Record<string, readonly string[]>>;
  /** Layers whose kinds the view always draws. */
  readonly layers?: readonly KindFacts['layer'][];
  /**
   * Names of the kinds in the layer `mark` that the view draws. A lesson gives these kinds titles and colours. 'points'
   * stands for all kinds that share a name with one of the lesson's points.
   */
  readonly marks?: readonly string[] | 'points';
  /**
   * A layer whose kinds are drawn only if they are in the step's `focus`. The colours are exceptions: kinds with these
   * colours are always drawn.
   */
  readonly onlyInFocus?: {
    readonly layer: KindFacts['layer'];
    readonly but: readonly KindFacts['colour'][];
  };
  readonly sentences: Texts;
  readonly moments?: Texts;
  readonly answers?: Texts;
  readonly panels?: Texts;
  /** Parts of the picture that a scene's `show` can name. A scene without `show` draws all parts. */
  readonly parts?: Texts;
  /** Knobs with `applies: model` that affect the view's model. */
  readonly knobs?: Texts;
  /** Toys that a step can name. */
  readonly toys?: Texts;
  /** Quantities that a lesson's `references` can state. */
  readonly quantities?: Texts;
  /** The counts per lane that the table of counts contains. */
  readonly counts?: string;
}

/** Names that a lesson can use with any view. */
export const commonAbout = {
  sentences: { none: 'no sentence' },
  moments: {
    newest: 'the newest window with events; once the run has ended, a typical one',
    start: "the workload's start",
    first_op: 'the first operation that is like the others',
    operation: 'the operation whose number stands under `operation`',
  },
  answers: {
    ops_ratio: 'operations of the first arm over those of the second, in equal time',
    crossing:
      'the value of a knob at which the ratio of the arms on the curve of a grid passes a limit',
  },
  show: {
    knobs: 'the knobs are open',
    patch: 'the patch, with the line that runs now',
    latency: 'how long each operation took, as dots',
    measured: 'the table of untraced runs',
    grid: 'the curves of the recorded grids with the workload of the step',
    hold: 'each lane stands still after one operation',
  },
} as const satisfies Readonly<Record<string, Texts>>;
