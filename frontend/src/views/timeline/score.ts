// SPDX-License-Identifier: GPL-2.0-or-later
/** The settings of the picture, which come from the lesson and the scene. */

import type { Theme } from '../../base/theme.ts';
import type { KindFacts, LaneIndex, RunIndex } from '../../derive/types.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { Pen } from '../paints.ts';
import type { Grid } from '../tick-marks.ts';

/** Parts of the picture that a scene's `show` can name. If `show` names none of them, all parts are drawn. */
export const parts = ['functions', 'tracks', 'links', 'points', 'counters'] as const;
export type Part = (typeof parts)[number];

/** If `show` contains this word, the picture has one row per CPU instead of one row per thread. */
export const rowsPerCpu = 'cpus';

/** Where an extra line is drawn, px. Times are in the lane's own time. */
export interface ExtraAt {
  readonly index: RunIndex;
  readonly lane: LaneIndex;
  /** The window. */
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly x: (t: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly height: number;
  /** Marks to the right of this x, px, are after the moment. */
  readonly revealX: number;
  readonly rows: readonly { readonly row: number; readonly top: number; readonly height: number }[];
  readonly theme: Theme & { readonly em: number };
  /** The noun for one operation. */
  readonly operation: string;
}

/** An extra line that a view adds below the rows. The view can also draw on the rows. */
export interface Extra {
  /** The extra line's name in `show`. The line is drawn only if the scene names it. */
  readonly part: string;
  readonly label: string;
  /** Height, px at 13 px text. */
  readonly height: number;
  /** Whether the extra line is drawn on this lane. */
  readonly on: (index: RunIndex, lane: LaneIndex) => boolean;
  readonly draw: (pen: Pen, at: ExtraAt) => void;
}

/** Options for a view that is built on this picture. */
export interface Look {
  /**
   * `nested`: functions have rows of their own below the thread. `brackets`: functions are lines below the thread,
   * drawn only if their kinds are in focus.
   */
  readonly functions: 'nested' | 'brackets';
  /** The parts of the picture that are drawn for a scene. */
  readonly shown: (show: Scene['show'] | undefined) => ReadonlySet<Part>;
  /** Width of the margin for row names, px at 13 px text. */
  readonly margin: number;
  /** Returns the lane's ticks. If they are unknown, the result is null, and the axis's lines are drawn instead. */
  readonly ticks: (index: RunIndex, lane: LaneIndex) => Grid | null;
  readonly extras: readonly Extra[];
}

export const timelineLook: Look = {
  functions: 'nested',
  shown: (show) => {
    const named = parts.filter((part) => show?.includes(part));
    return new Set(named.length === 0 ? parts : named);
  },
  margin: 168,
  ticks: () => null,
  extras: [],
};

export interface Score
  extends Pick<Lesson, 'arms' | 'tracks' | 'points' | 'counters' | 'operation' | 'thread'> {
  readonly look: Look;
  readonly parts: ReadonlySet<Part>;
  readonly extras: readonly Extra[];
  readonly rows: 'threads' | 'cpus';
  /** Whether the picture draws the lanes' titles; otherwise the page shows them. */
  readonly ownHeaders: boolean;
  readonly headerHeight: number;
  /** Text size, px. All heights that contain text scale with it. */
  readonly fontSize: number;
}

/** @param headerHeight height of the page's own header over each lane, px; if null, the picture draws the titles */
export function scoreOf(
  lesson: Lesson,
  show: Scene['show'] | undefined,
  headerHeight: number | null,
  fontSize = 13,
  look: Look = timelineLook,
): Score {
  const { arms, tracks, points, counters, operation, thread } = lesson;
  return {
    ...{ arms, tracks, points, counters, operation, thread, look, fontSize },
    parts: look.shown(show),
    extras: look.extras.filter(({ part }) => show?.includes(part)),
    rows: show?.includes(rowsPerCpu) ? 'cpus' : 'threads',
    ownHeaders: headerHeight === null,
    headerHeight: headerHeight ?? Math.round((34 * fontSize) / 13),
  };
}

// Gives each kind a style, from its colour, its layer, and its position among the kinds of its colour.
// A style never depends on the kind's name.

/** The texture, which distinguishes kinds that have the same colour. */
export type Texture =
  | 'solid'
  | 'line'
  | 'hatch'
  | 'backhatch'
  | 'dots'
  | 'outline'
  | 'dashes'
  | 'pale'
  | 'stripes'
  | 'paledots'
  | 'hollow'
  | 'bracket'
  | 'band'
  | 'cross';

/** How functions are drawn: in rows of their own, or as lines below their thread. */
export type Functions = 'nested' | 'brackets';

export interface MarkStyle {
  readonly kind: number;
  readonly colour: KindFacts['colour'];
  readonly texture: Texture;
  /** Marks with a higher rank are drawn later, on top of the others. */
  readonly rank: number;
  /** Minimum width of a mark, px. */
  readonly leastPx: number;
  /** How far short and important marks extend above and below the row, px. */
  readonly tall: number;
  /** Shade of a band or CPU row, which distinguishes neighbours of the same colour. */
  readonly shade: number;
}

const byOrdinal: Readonly<Record<string, readonly Texture[]>> = {
  'wait/state': ['backhatch', 'hatch'],
  'other/state': ['dots', 'dashes', 'outline'],
  'other/track': ['pale'],
  'mechanism/track': ['pale', 'solid', 'stripes', 'paledots'],
  'idle/state': ['line'],
  'vain/state': ['hollow'],
  'vain/track': ['hollow'],
  'hazard/function': ['cross'],
  'hazard/state': ['cross'],
};

const ranks: Readonly<Record<KindFacts['colour'], number>> = {
  idle: 0,
  other: 1,
  vain: 2,
  work: 3,
  wait: 4,
  mechanism: 5,
  gain: 6,
  hazard: 7,
};

/** One style per kind, in the lesson's order. */
export function stylesOf(
  kinds: readonly KindFacts[],
  functions: Functions = 'brackets',
): MarkStyle[] {
  const seen = new Map<string, number>();
  return kinds.map((kind, index) => {
    const group = `${kind.colour}/${kind.layer}`;
    const ordinal = seen.get(group) ?? 0;
    seen.set(group, ordinal + 1);
    const call: readonly Texture[] = functions === 'nested' ? ['band'] : ['bracket'];
    const textures: readonly Texture[] =
      byOrdinal[group] ?? (kind.layer === 'function' ? call : ['solid']);
    const texture = textures[ordinal % textures.length]!;
    const brief = kind.layer === 'track' && (texture === 'solid' || texture === 'stripes');
    const delay = texture === 'pale' || texture === 'paledots';
    return {
      kind: index,
      colour: kind.colour,
      texture,
      rank:
        ranks[kind.colour] + (delay ? -0.5 : 0) + (brief && kind.colour === 'mechanism' ? 0.5 : 0),
      leastPx: brief ? 2 : 1,
      tall: brief ? 2 : 0,
      shade: ordinal,
    };
  });
}

const caches = {
  nested: new WeakMap<readonly KindFacts[], MarkStyle[]>(),
  brackets: new WeakMap<readonly KindFacts[], MarkStyle[]>(),
} as const;

export function stylesFor(
  kinds: readonly KindFacts[],
  functions: Functions = 'brackets',
): readonly MarkStyle[] {
  const cache = caches[functions];
  let styles = cache.get(kinds);
  if (styles === undefined) {
    styles = stylesOf(kinds, functions);
    cache.set(kinds, styles);
  }
  return styles;
}

/** One style per shade, for neighbouring threads on a CPU. */
export function shades(kinds: readonly KindFacts[]): readonly MarkStyle[] {
  const kind = kinds.findIndex((k) => k.name === 'running');
  return [0, 1, 2].map((shade) => {
    return { kind, colour: 'work', texture: 'band', rank: 3, leastPx: 1, tall: 0, shade };
  });
}

// Rectangles grouped by kind, so that each kind is drawn with one fill.

/** Rectangles of one kind on one lane, stored as [x, y, w, h]. */
export class RectList {
  readonly style: MarkStyle;
  n = 0;
  at = new Float32Array(64);

  constructor(style: MarkStyle) {
    this.style = style;
  }

  push(x: number, y: number, w: number, h: number): void {
    const end = this.n * 4;
    if (end === this.at.length) {
      const larger = new Float32Array(end * 2);
      larger.set(this.at);
      this.at = larger;
    }
    this.at[end] = x;
    this.at[end + 1] = y;
    this.at[end + 2] = w;
    this.at[end + 3] = h;
    this.n += 1;
  }
}
