// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The one contract of views. A folder below views/ whose index.tsx exports `view` is found by its files. A view brings
 * pure functions of (index, frame, size); LaneCanvas brings canvas, pointer, keys and tips.
 */

import type { ComponentType, ReactNode } from 'react';
import type { Theme } from '../base/theme.ts';
import type { Behind } from '../derive/behind.ts';
import type { EntryWords } from '../derive/jumps.ts';
import type { Finder } from '../derive/moments.ts';
import type { Answer } from '../derive/prediction.ts';
import type { NearbyRow } from '../derive/summary.ts';
import type { Frame, FrameSource, KindFacts, Mark, RunIndex, Size } from '../derive/types.ts';
import type { Kind, Lesson, MeasuredTable, Prediction, Scene } from '../protocol/lesson.ts';
import type { LineMessage, MeasuredMessage } from '../protocol/messages.ts';
import type { TileToy } from '../toys/tiles/types.ts';
import type { Toy } from '../toys/types.ts';
import type { About } from './about.ts';
import type { Pen, TileMaker } from './paints.ts';

/** What everyone in a class is to look at. */
export interface Spotlight {
  readonly arm: string;
  /** Null: the whole lane. */
  readonly mark: Mark | null;
}

export interface CanvasProps {
  readonly runIndex: RunIndex;
  readonly lesson: Lesson;
  readonly frame: FrameSource;
  readonly theme: Theme;
  /** Parts that the scene shows; without it all. */
  readonly show?: Scene['show'];
  /** The sentence that is written beside the picture: the marks that it speaks of are outlined. */
  readonly sentence?: string;
  /** Put over each lane instead of the title that the view would draw. */
  readonly header?: (arm: string) => ReactNode;
  readonly headerHeight?: number;
  /** Of labels, axis and readout, px; at least 13. Present mode: 20. */
  readonly fontSize?: number;
  readonly onHover?: (mark: Mark | null) => void;
  readonly onSelect?: (mark: Mark | null) => void;
  /** The playhead was dragged to this moment (frame time). */
  readonly onSeek?: (moment: number) => void;
  /** The window was zoomed, moved or brushed (frame time, ns). */
  readonly onWindow?: (start: number, span: number) => void;
  /** What everyone in a class is to look at. */
  readonly spotlight?: Spotlight | null;
}

/** Everything a pure drawing needs. */
export interface Drawing {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly size: Size;
  readonly lesson: Lesson;
  readonly theme: Theme;
  readonly show?: Scene['show'];
}

/** Where a lane stands; its header is put there. */
export interface LaidLane {
  readonly arm: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

export interface Laid {
  readonly lanes: readonly LaidLane[];
}

export type ArrowKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End';

/** A place on the canvas, CSS px. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A part of the canvas, CSS px. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A mark, and where a pointer finds it. */
export interface Item {
  readonly mark: Mark;
  readonly box: Box;
  /** Of items that lie over each other the highest is meant; without it 0. */
  readonly rank?: number;
  /** Short and important: a pointer that misses it a little means it all the same. */
  readonly brief?: boolean;
  /** Its shape, where that is no box. */
  readonly holds?: (at: Point) => boolean;
  /** The arrow keys pass it by. */
  readonly pointerOnly?: boolean;
}

/** Items that the left and right keys go along; up and down go from row to row. */
export interface Row {
  readonly arm: string;
  readonly area: Box;
  /** Items that touch the columns from x0 to x1, and perhaps their neighbours, from left to right. */
  readonly items: (x0: number, x1: number) => readonly Item[];
  /** A pointer may miss an item by so much at its sides, px. */
  readonly slop?: number;
  /** Where its end goes on: in the next row, as a line of text does, or in the same row of the next lane. */
  readonly flows?: 'row' | 'lane';
  /** Up and down come in here, px; without it where they come from. */
  readonly entry?: number;
}

/**
 * A picture of lanes. Written as methods: a view's own layout type is narrower than Laid, and each artist is only
 * ever given layouts that it made.
 */
export interface Artist<L extends Laid = Laid> {
  /** What the picture is, for those who do not see it. */
  readonly label: string;
  /** Where everything stands. Called for every frame: cheap, or cached by the view. */
  layout(drawing: Drawing, headerHeight: number, fontSize: number): L;
  draw(pen: Pen, layout: L, drawing: Drawing, pointed: Mark | null, tiles: TileMaker): void;
  /**
   * What can be pointed at, row by row; items.ts makes pointing and the arrow keys of it. Asked for at each movement
   * of the pointer: what an item costs is paid when a row is asked for its columns.
   */
  rows(layout: L, drawing: Drawing): readonly Row[];
  /** Where a mark stands; its tip and its ring are at the first. None: it is out of view. */
  boxes(layout: L, drawing: Drawing, mark: Mark): readonly Box[];
  /** Where the arrow keys begin; without it, or null, where the first row that has anything is come into. */
  first?(layout: L, drawing: Drawing): Mark | null;
  /** A mark in words. */
  describe(drawing: Drawing, mark: Mark): string;
  /** The moment (frame time) that a point stands for; null: it stands for none. */
  seek?(layout: L, drawing: Drawing, x: number, y: number): number | null;
  /** Where the frame's window begins and ends, px: gestures zoom and move it. Null: the picture has no time axis. */
  axis?(layout: L, drawing: Drawing): { readonly left: number; readonly right: number } | null;
  /** At this width a lower picture would be cut off at its foot, px; without it the view fits any height. */
  least?(drawing: Drawing, headerHeight: number, fontSize: number): number;
}

/** A sentence about this moment, read off the index; empty while there is nothing to say. */
export type Sentence = (index: RunIndex, frame: Frame, lesson: Lesson) => string;

/** Where a scene looks; null: there is nothing of the kind in this run. */
export type MomentFinder = Finder;

/** The truth about a prediction; null while the run cannot tell. */
export type Answerer = (index: RunIndex, prediction: Prediction, lesson: Lesson) => Answer | null;

/** Counts of the whole run so far, a row per arm. */
export interface Counts {
  readonly heads: readonly string[];
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** How each of them was obtained, where that differs from one to the next. */
  readonly evidence?: readonly ('measured' | 'counted' | 'modelled')[];
}

/** What a panel beside the stage is given. */
export interface PanelProps {
  readonly runIndex: RunIndex;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly frame: FrameSource;
  readonly theme: Theme;
  readonly recorded: boolean;
  readonly data: PanelData;
  /** Turns a knob of the lesson; absent where none can be turned. */
  readonly onKnob?: ((name: string, value: number) => void) | undefined;
}

/** What panels show beside the run's events. */
export interface PanelData {
  /** The newest table of this session; null: none was measured. */
  readonly measured: MeasuredMessage | null;
  /** Tables recorded with the lesson, then those that were measured while the page is open. */
  readonly tables: readonly MeasuredTable[];
  /** What the guest of an arm has printed. */
  readonly linesOf: (arm: string) => readonly LineMessage[];
}

/** A panel that a scene's `show` asks for by name. */
export interface Panel {
  readonly title: string;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  readonly Body: ComponentType<PanelProps>;
}

export interface ViewKind {
  readonly kind: string;
  /** For authors of lessons. */
  readonly about: About;
  /** Names of the knobs of its model; a lesson declares those that a viewer may turn, with `applies: model`. */
  readonly knobs?: readonly string[];
  /**
   * Layout, drawing and items of a scene. Called once for each canvas, so an artist may have a cache of its own.
   */
  readonly artist: (lesson: Lesson, show?: Scene['show']) => Artist;
  /** What the drawer of a mark shows; without it, what the lane's tables have of it (derive/behind.ts). */
  readonly behind?: (index: RunIndex, frame: Frame, lesson: Lesson, mark: Mark) => Behind | null;
  /** One point of the axis in words; without it the fields in which two of them differ. */
  readonly entryWords?: EntryWords;
  /** The window in words, a sentence per lane. */
  readonly summary: (index: RunIndex, frame: Frame, lesson: Lesson) => readonly string[];
  /** At most 50 marks near the moment. */
  readonly table: (index: RunIndex, frame: Frame, lesson: Lesson) => readonly NearbyRow[];
  /** The height at which it stands comfortably, px. */
  readonly preferredHeight: (
    index: RunIndex,
    lesson: Lesson,
    show?: Scene['show'],
    fontSize?: number,
  ) => number;
  /** The same where the window is at most 700 px wide; null: as in any other. */
  readonly narrowHeight?: (index: RunIndex, lesson: Lesson, show?: Scene['show']) => number | null;
  /** Of that height, what still shows every lane in a low window, as a share; without it 0.62. */
  readonly leastShare?: number | ((lanes: number) => number);
  /** The sentences that a scene may ask for; 'none' needs no entry. */
  readonly sentences: Readonly<Record<string, Sentence>>;
  /** Its sentences speak of marks and regions, and its artist outlines those in `frame`, a stroke each. */
  readonly outlines?: boolean;
  /** Moments beyond those that every view knows. */
  readonly moments?: Readonly<Record<string, MomentFinder>>;
  /** Answers to predictions beyond ops_ratio. */
  readonly answers?: Readonly<Record<string, Answerer>>;
  /**
   * Where beside the picture such an answer stands: names of panels, 'counts', 'overview'. One that is not named here
   * stands in all of them, and none is shown in a step before the one that asks.
   */
  readonly tells?: Readonly<Record<string, readonly string[]>>;
  readonly panels?: Readonly<Record<string, Panel>>;
  /** Rules to play with that a scene's `toy` names; they need no run. */
  readonly toys?: Readonly<Record<string, Toy | TileToy>>;
  readonly counts?: (index: RunIndex, frame: Frame, lesson: Lesson) => Counts;
  /**
   * Kinds in the legend of a scene; without it those in focus, or all of the lesson. `there`: kinds with a span in the
   * run on show; null: no run is known yet.
   */
  readonly legend?: (
    lesson: Lesson,
    scene: Scene,
    there: ReadonlySet<string> | null,
  ) => readonly Kind[];
  /** How strong a kind out of focus is drawn, in the picture and in the legend; left out: as any other. */
  readonly mutes?: number;
  /** How a kind looks, painted by the brush of the view. */
  readonly Swatch: ComponentType<SwatchProps>;
}

export interface SwatchProps {
  readonly kind: string;
  readonly kinds: readonly KindFacts[];
  readonly theme: Theme;
  readonly width?: number;
  readonly height?: number;
}
