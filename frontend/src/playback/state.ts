// SPDX-License-Identifier: GPL-2.0-or-later
/** What playback is at a moment, and what people may do to it. */

import { millisecond, type Nanos, ns } from '../base/units.ts';
import { noOffsets, type Offsets } from '../derive/align.ts';
import type { Direction, Jump } from '../derive/jumps.ts';
import type { Place } from '../derive/moments.ts';
import { speedFor } from '../derive/speed.ts';
import type { Alignment, Mark, RunIndex } from '../derive/types.ts';

export type Mode = 'scope' | 'play' | 'paused';

export interface PlaybackState {
  readonly mode: Mode;
  /** The stage is covered while a prediction is asked: nothing plays until it is not. */
  readonly veiled: boolean;
  readonly moment: Nanos;
  readonly start: Nanos;
  readonly span: number;
  /** Guest seconds per second here. */
  readonly speed: number;
  readonly direction: Direction;
  readonly alignment: Alignment;
  /** The operation that was asked for, from 1; null: for `operation` the one near the window, else the first. */
  readonly nth: number | null;
  /** The operation that the lanes are aligned at now, from 1. */
  readonly operation: number;
  readonly offset: Offsets;
  readonly selection: Mark | null;
  /** The last thing done was such a jump, from that moment: what is where it has led is said in words. */
  readonly jumped: { readonly what: Jump; readonly from: Nanos } | null;
  readonly focus: ReadonlySet<string>;
  /** See Frame. */
  readonly hold: boolean;
  /** The scope moves on to the newest window; else it repeats the one it has. */
  readonly follows: boolean;
  /** There is a window with events: the scope has something to sweep. */
  readonly armed: boolean;
  /** The scope has swept its window and lets it stand for so long, ms. */
  readonly heldMs: number;
  /** Time since the last beat, when beats stand for motion. */
  readonly sinceBeatMs: number;
}

export interface World {
  readonly index: RunIndex | null;
  /** prefers-reduced-motion: steps from beat to beat. */
  readonly reduced: boolean;
}

export const holdMs = 1200;
export const beatMs = 1200;

export const initialPlayback: PlaybackState = {
  mode: 'scope',
  veiled: false,
  moment: ns(0),
  start: ns(0),
  span: 30 * millisecond,
  speed: speedFor(30 * millisecond, 5),
  direction: 1,
  alignment: 'time',
  nth: null,
  operation: 1,
  offset: noOffsets,
  selection: null,
  jumped: null,
  focus: new Set(),
  hold: false,
  follows: true,
  armed: false,
  heldMs: 0,
  sinceBeatMs: 0,
};

export type Action =
  /** Without a direction: the one it had. */
  | { readonly type: 'play'; readonly direction?: Direction }
  | { readonly type: 'pause' }
  | { readonly type: 'veil'; readonly veiled: boolean }
  | { readonly type: 'resume' }
  | { readonly type: 'scope' }
  | { readonly type: 'seek'; readonly moment: number }
  | { readonly type: 'window'; readonly start: number; readonly span?: number }
  | { readonly type: 'zoom'; readonly factor: number }
  /** Exactly this window, zoomed, moved or brushed by hand. */
  | { readonly type: 'view'; readonly start: number; readonly span: number }
  | { readonly type: 'speed'; readonly speed: number }
  | { readonly type: 'reverse' }
  | { readonly type: 'beat'; readonly direction: Direction }
  | { readonly type: 'event'; readonly direction: Direction }
  | { readonly type: 'long_wait' }
  | { readonly type: 'divergence' }
  | { readonly type: 'loss' }
  /** Exactly this window and moment, still: what a link holds. */
  | {
      readonly type: 'look';
      readonly start: number;
      readonly span: number;
      readonly moment: number;
    }
  /** `asked`: by a person who pressed that very button. */
  | {
      readonly type: 'align';
      readonly alignment: Alignment;
      readonly nth?: number;
      readonly asked?: boolean;
    }
  | { readonly type: 'select'; readonly mark: Mark | null }
  | { readonly type: 'focus'; readonly kinds: readonly string[] }
  | {
      readonly type: 'place';
      readonly place: Place;
      readonly seconds: number;
      readonly focus: readonly string[];
      readonly hold?: boolean;
      readonly paused?: boolean;
    };

/** Width of a window, ns. */
export const leastSpan = 1000;
export const mostSpan = 120e9;
