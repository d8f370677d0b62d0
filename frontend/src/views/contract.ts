// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The interface of views. A folder below views/ whose index.tsx exports `view` is found by its path. A view has pure
 * functions of (index, frame, size); LaneCanvas adds canvas, pointer, keys and tooltips.
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

/** What an instructor highlights for the class. */
export interface Spotlight {
  readonly arm: string;
  /** The highlighted mark; null if the whole lane is highlighted. */
  readonly mark: Mark | null;
}

export interface CanvasProps {
  readonly runIndex: RunIndex;
  readonly lesson: Lesson;
  readonly frame: FrameSource;
  readonly theme: Theme;
  /** Parts of the picture that the scene shows. By default all parts are shown. */
  readonly show?: Scene['show'];
  /** Name of the sentence next to the picture. The picture outlines the marks that the sentence mentions. */
  readonly sentence?: string;
  /** Replaces the title that the view would draw over each lane. */
  readonly header?: (arm: string) => ReactNode;
  readonly headerHeight?: number;
  /** Font size of labels, axis and readout, px: at least 13, and 20 on slides. */
  readonly fontSize?: number;
  /**
   * Covers the body of a lane whose picture is not shown yet; null if nothing covers it. No mark of a covered lane can
   * be pointed at.
   */
  readonly cover?: (arm: string) => ReactNode;
  readonly onHover?: (mark: Mark | null) => void;
  readonly onSelect?: (mark: Mark | null) => void;
  /** The user dragged the playhead to this moment (frame time). */
  readonly onSeek?: (moment: number) => void;
  /** The user zoomed, moved or brushed the window (frame time, ns). */
  readonly onWindow?: (start: number, span: number) => void;
  /** The lane or mark that an instructor highlights for the class. */
  readonly spotlight?: Spotlight | null;
}

/** All inputs of a pure drawing. */
export interface Drawing {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly size: Size;
  readonly lesson: Lesson;
  readonly theme: Theme;
  readonly show?: Scene['show'];
}

/** Place of a lane; its header is drawn there. */
export interface LaidLane {
  readonly arm: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  /**
   * Where the lane's body ends and its axis begins. By default the body ends at the next lane or at the bottom of the
   * picture.
   */
  readonly bottom?: number;
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

/** A rectangle on the canvas, CSS px. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A mark, and the box in which a pointer hits it. */
export interface Item {
  readonly mark: Mark;
  readonly box: Box;
  /** Where items overlap, the one with the highest rank is hit; default 0. */
  readonly rank?: number;
  /** Whether the mark is short and important, so that a pointer that narrowly misses it still hits it. */
  readonly brief?: boolean;
  /** Hit test for a shape that is not a box. */
  readonly holds?: (at: Point) => boolean;
  /** Whether the arrow keys skip the item. */
  readonly pointerOnly?: boolean;
}

/** Items that the left and right arrow keys visit. The up and down keys move between rows. */
export interface Row {
  readonly arm: string;
  readonly area: Box;
  /** Items that touch the columns from x0 to x1, and possibly their neighbours, from left to right. */
  readonly items: (x0: number, x1: number) => readonly Item[];
  /** Horizontal tolerance of a pointer, px. */
  readonly slop?: number;
  /**
   * Where the right arrow key continues at the end of the row: in the next row, as in text, or in the same row of the
   * next lane.
   */
  readonly flows?: 'row' | 'lane';
  /** The x, px, at which the up and down keys enter this row. By default the keys keep their current x. */
  readonly entry?: number;
}

/**
 * Draws lanes. The members are methods, because a view's layout type is narrower than Laid, and each artist receives
 * only layouts that it made.
 */
export interface Artist<L extends Laid = Laid> {
  /** Description of the picture for screen readers. */
  readonly label: string;
  /**
   * Compute all positions. This method is called for every frame, so it must be cheap, or the view must cache its
   * result.
   */
  layout(drawing: Drawing, headerHeight: number, fontSize: number): L;
  draw(pen: Pen, layout: L, drawing: Drawing, pointed: Mark | null, tiles: TileMaker): void;
  /**
   * Return the rows of items for pointer and keys (items.ts). This method is called at each movement of the pointer, so
   * it should compute items lazily in `Row.items`.
   */
  rows(layout: L, drawing: Drawing): readonly Row[];
  /** The boxes of a mark. Its tooltip and ring are placed at the first box. Empty if the mark is outside the view. */
  boxes(layout: L, drawing: Drawing, mark: Mark): readonly Box[];
  /**
   * Return the mark at which the arrow keys begin. If the method is absent or returns null, they begin in the first row
   * that has items.
   */
  first?(layout: L, drawing: Drawing): Mark | null;
  /** A mark in words. */
  describe(drawing: Drawing, mark: Mark): string;
  /** The moment (frame time) at a point; null if there is none. */
  seek?(layout: L, drawing: Drawing, x: number, y: number): number | null;
  /**
   * Left and right end of the frame's window, px, for the gestures that zoom and move it. Null if the picture has no
   * time axis.
   */
  axis?(layout: L, drawing: Drawing): { readonly left: number; readonly right: number } | null;
  /** The least height at this width, px; a lower picture would be cut off at the bottom. By default any height fits. */
  least?(drawing: Drawing, headerHeight: number, fontSize: number): number;
}

/** Return a sentence about this moment, computed from the index; empty if there is nothing to say. */
export type Sentence = (index: RunIndex, frame: Frame, lesson: Lesson) => string;

/** Return the place where a scene opens; null if the run has no such moment. */
export type MomentFinder = Finder;

/** Return the true answer to a prediction; null if the run does not show it. */
export type Answerer = (index: RunIndex, prediction: Prediction, lesson: Lesson) => Answer | null;

/** Counts of the run so far, one row per arm. */
export interface Counts {
  readonly heads: readonly string[];
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** Kind of evidence for each count; absent if all counts have the same kind. */
  readonly evidence?: readonly ('measured' | 'counted' | 'modelled')[];
}

/** Props of a panel next to the stage. */
export interface PanelProps {
  readonly runIndex: RunIndex;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly frame: FrameSource;
  readonly theme: Theme;
  readonly recorded: boolean;
  readonly data: PanelData;
  /** Set a knob of the lesson; absent where knobs cannot be set. */
  readonly onKnob?: ((name: string, value: number) => void) | undefined;
}

/** What panels show in addition to the run's events. */
export interface PanelData {
  /** The newest table of this session; null if none was measured. */
  readonly measured: MeasuredMessage | null;
  /** Tables recorded with the lesson, followed by those measured while the page is open. */
  readonly tables: readonly MeasuredTable[];
  /** Recorded tables of other hosts. */
  readonly elsewhere: readonly MeasuredTable[];
  /** Lines that an arm's guest has printed. */
  readonly linesOf: (arm: string) => readonly LineMessage[];
}

/** A panel that a scene's `show` names. */
export interface Panel {
  readonly title: string;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  readonly Body: ComponentType<PanelProps>;
}

export interface ViewKind {
  readonly kind: string;
  /** Facts for authors of lessons. */
  readonly about: About;
  /** Knobs of its model; a lesson declares those that a viewer may set, with `applies: model`. */
  readonly knobs?: readonly string[];
  /** Create the artist of a scene. Called once per canvas, so an artist may have a cache. */
  readonly artist: (lesson: Lesson, show?: Scene['show']) => Artist;
  /** Explain a mark in its drawer. By default the explanation comes from the lane's own tables (derive/behind.ts). */
  readonly behind?: (index: RunIndex, frame: Frame, lesson: Lesson, mark: Mark) => Behind | null;
  /** Describe one point of a counting axis. By default the description names the fields in which points differ. */
  readonly entryWords?: EntryWords;
  /** Describe the window in words, with a sentence per lane. */
  readonly summary: (index: RunIndex, frame: Frame, lesson: Lesson) => readonly string[];
  /** A table of at most 50 marks near the moment. */
  readonly table: (index: RunIndex, frame: Frame, lesson: Lesson) => readonly NearbyRow[];
  /** Comfortable height, px. */
  readonly preferredHeight: (
    index: RunIndex,
    lesson: Lesson,
    show?: Scene['show'],
    fontSize?: number,
  ) => number;
  /** Comfortable height in a window of at most 700 px width; null if it is the same. */
  readonly narrowHeight?: (index: RunIndex, lesson: Lesson, show?: Scene['show']) => number | null;
  /** The least share of the comfortable height at which a low window still shows every lane; default 0.62. */
  readonly leastShare?: number | ((lanes: number) => number);
  /** Sentences that a scene may name; 'none' needs no entry. */
  readonly sentences: Readonly<Record<string, Sentence>>;
  /** Whether its sentences mention marks and regions, and its artist outlines those in `frame` with one stroke each. */
  readonly outlines?: boolean;
  /** Moments that this view adds to those of every view. */
  readonly moments?: Readonly<Record<string, MomentFinder>>;
  /** Answers to predictions, in addition to ops_ratio. */
  readonly answers?: Readonly<Record<string, Answerer>>;
  /**
   * Where the page would reveal each of these answers: names of panels, 'counts', 'overview'. These parts are hidden in
   * the steps before the one that asks for the prediction. If an answer has no entry, all parts are hidden.
   */
  readonly tells?: Readonly<Record<string, readonly string[]>>;
  readonly panels?: Readonly<Record<string, Panel>>;
  /** Toys that a scene's `toy` names. They let the user try rules, and need no run. */
  readonly toys?: Readonly<Record<string, Toy | TileToy>>;
  readonly counts?: (index: RunIndex, frame: Frame, lesson: Lesson) => Counts;
  /**
   * Kinds in the legend of a scene. By default these are the kinds in focus, or if there are none, all kinds of the
   * lesson. `there`: kinds with a span in the run on the stage; null if there is no run yet.
   */
  readonly legend?: (
    lesson: Lesson,
    scene: Scene,
    there: ReadonlySet<string> | null,
  ) => readonly Kind[];
  /** Opacity of kinds out of focus, in the picture and in the legend. By default they are not muted. */
  readonly mutes?: number;
  /** Sample of a kind, painted by the view's brush. */
  readonly Swatch: ComponentType<SwatchProps>;
}

export interface SwatchProps {
  readonly kind: string;
  readonly kinds: readonly KindFacts[];
  readonly theme: Theme;
  readonly width?: number;
  readonly height?: number;
}
