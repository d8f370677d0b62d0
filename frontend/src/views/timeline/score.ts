// SPDX-License-Identifier: GPL-2.0-or-later
/** What the lesson and the scene say about the picture. */

import type { Theme } from '../../base/theme.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { Pen } from '../paints.ts';
import type { Grid } from '../tick-marks.ts';

/** Parts of the picture that a scene may ask for by `show`; where it names none of them, all are drawn. */
export const parts = ['functions', 'tracks', 'links', 'points', 'counters'] as const;
export type Part = (typeof parts)[number];

/** In `show`: a row per CPU in place of a row per thread. */
export const rowsPerCpu = 'cpus';

/** Where an extra line draws, px; times are the lane's own. */
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
  /** What lies right of it has not happened yet at the moment. */
  readonly revealX: number;
  readonly rows: readonly { readonly row: number; readonly top: number; readonly height: number }[];
  readonly theme: Theme & { readonly em: number };
  /** What one operation is called. */
  readonly operation: string;
}

/** A line of its own below the rows, which a view adds; it may draw on the rows as well. */
export interface Extra {
  /** Its name in `show`; it is there only where a scene names it. */
  readonly part: string;
  readonly label: string;
  /** Px at 13 px. */
  readonly height: number;
  /** Whether a lane has it. */
  readonly on: (index: RunIndex, lane: LaneIndex) => boolean;
  readonly draw: (pen: Pen, at: ExtraAt) => void;
}

/** What a view that is built on this picture chooses. */
export interface Look {
  /** `nested`: in rows of their own below the thread. `brackets`: a line under the thread, and only in focus. */
  readonly functions: 'nested' | 'brackets';
  /** Parts drawn for a scene. */
  readonly shown: (show: Scene['show'] | undefined) => ReadonlySet<Part>;
  /** Width of the names of rows at 13 px, where they have a margin. */
  readonly margin: number;
  /** Null: they are not known, and the axis's lines are drawn. */
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
  /** Titles are drawn here, or left free for the page. */
  readonly ownHeaders: boolean;
  readonly headerHeight: number;
  /** Of all text, px. Heights that hold text grow with it. */
  readonly fontSize: number;
}

/** `headerHeight`: room that the page takes for its own header over each lane, px; null: titles are drawn. */
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
