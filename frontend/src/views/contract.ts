// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The interface of views. The page finds each folder below views/ whose index.tsx exports `view`. A view consists of
 * pure functions of (index, frame, size). LaneCanvas adds the canvas, pointer, keys and tooltips.
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

/** The lane or mark that an instructor highlights for the class. */
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
  /** Parts of the picture that the scene shows; by default all parts. */
  readonly show?: Scene['show'];
  /** Name of the sentence next to the picture. The picture outlines the marks that this sentence mentions. */
  readonly sentence?: string;
  /** Replaces the title that the view would draw over each lane. */
  readonly header?: (arm: string) => ReactNode;
  readonly headerHeight?: number;
  /** Font size of labels, axis and readout, px: at least 13, and 20 on slides. */
  readonly fontSize?: number;
  /**
   * Returns a cover for the body of a lane whose picture is still hidden; null if the lane is not covered. No mark of a
   * covered lane can be selected.
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

/** All inputs for drawing a picture. */
export interface Drawing {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly size: Size;
  readonly lesson: Lesson;
  readonly theme: Theme;
  readonly show?: Scene['show'];
}

/** Position of a lane. The lane's header is drawn there. */
export interface LaidLane {
  readonly arm: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  /**
   * The y at which the lane's body ends and its axis begins. By default the body ends at the next lane, or at the
   * bottom of the picture if no lane follows.
   */
  readonly bottom?: number;
}

export interface Laid {
  readonly lanes: readonly LaidLane[];
}

export type ArrowKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End';

/** A position on the canvas, CSS px. */
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

/** A mark, and the box in which the pointer selects it. */
export interface Item {
  readonly mark: Mark;
  readonly box: Box;
  /** Where items overlap, the pointer selects the item with the highest rank; default 0. */
  readonly rank?: number;
  /** Whether a near miss of the pointer still selects the mark, because the mark is short and important. */
  readonly brief?: boolean;
  /** Hit test for a shape that is not a rectangle. */
  readonly holds?: (at: Point) => boolean;
  /** Whether the arrow keys skip the item. */
  readonly pointerOnly?: boolean;
}

/** Items between which the left and right arrow keys move. The up and down arrow keys move between rows. */
export interface Row {
  readonly arm: string;
  readonly area: Box;
  /** Items that touch the columns from x0 to x1, from left to right. Items next to these columns may be included. */
  readonly items: (x0: number, x1: number) => readonly Item[];
  /** Horizontal tolerance of the pointer, px. */
  readonly slop?: number;
  /**
   * Where the right arrow key continues after the last item: in the next row, as in text, or in the same row of the
   * next lane.
   */
  readonly flows?: 'row' | 'lane';
  /** The x, px, at which the up and down arrow keys enter this row. By default they keep their current x. */
  readonly entry?: number;
}

/**
 * Draws lanes. The members are declared as methods, because a view's layout type is narrower than Laid. This is safe,
 * because an artist receives only layouts that it made itself.
 */
export interface Artist<L extends Laid = Laid> {
  /** Description of the picture for screen readers. */
  readonly label: string;
  /**
   * Compute all positions. The page calls this method for every frame, so it must be cheap, or the view must cache its
   * result.
   */
  layout(drawing: Drawing, headerHeight: number, fontSize: number): L;
  draw(pen: Pen, layout: L, drawing: Drawing, pointed: Mark | null, tiles: TileMaker): void;
  /**
   * Return the rows of items for pointer and keys (items.ts). The page calls this method at each movement of the
   * pointer, so it should compute items lazily in `Row.items`.
   */
  rows(layout: L, drawing: Drawing): readonly Row[];
  /**
   * Return the boxes of a mark; empty if the mark is outside the view. Tooltip and ring are placed at the first box.
   */
  boxes(layout: L, drawing: Drawing, mark: Mark): readonly Box[];
  /**
   * Return the mark at which the arrow keys start. Without this method, or if it returns null, they start in the first
   * row that has items.
   */
  first?(layout: L, drawing: Drawing): Mark | null;
  /** Describe a mark in words. */
  describe(drawing: Drawing, mark: Mark): string;
  /** Return the moment (frame time) at a point; null if the point has no moment. */
  seek?(layout: L, drawing: Drawing, x: number, y: number): number | null;
  /**
   * Left and right end of the frame's window, px, for the gestures that zoom and move the window. Null if the picture
   * has no time axis.
   */
  axis?(layout: L, drawing: Drawing): { readonly left: number; readonly right: number } | null;
  /**
   * The minimum height at this width, px. A lower picture would be cut off at the bottom. By default any height fits.
   */
  least?(drawing: Drawing, headerHeight: number, fontSize: number): number;
}

/** Compute a sentence about the frame's moment from the index; empty if no sentence applies. */
export type Sentence = (index: RunIndex, frame: Frame, lesson: Lesson) => string;

/** Return the place at which a scene opens; null if the run has no suitable moment. */
export type MomentFinder = Finder;

/** Return the correct answer to a prediction; null if the run does not show the answer. */
export type Answerer = (index: RunIndex, prediction: Prediction, lesson: Lesson) => Answer | null;

/** A table of counts of the run so far, with one row per arm. */
export interface Counts {
  readonly heads: readonly string[];
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** Kind of evidence for each count; absent if all counts have the same kind of evidence. */
  readonly evidence?: readonly ('measured' | 'counted' | 'modelled')[];
}

/** Properties of a panel next to the stage. */
export interface PanelProps {
  readonly runIndex: RunIndex;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly frame: FrameSource;
  readonly theme: Theme;
  readonly recorded: boolean;
  readonly data: PanelData;
  /** Set a knob of the lesson; absent where the viewer cannot set knobs. */
  readonly onKnob?: ((name: string, value: number) => void) | undefined;
}

/** What panels show in addition to the run's events. */
export interface PanelData {
  /** The newest table that was measured in this session; null if none was measured. */
  readonly measured: MeasuredMessage | null;
  /** Tables recorded with the lesson, followed by tables measured while the page is open. */
  readonly tables: readonly MeasuredTable[];
  /** Recorded tables that only curves show: those of other hosts, and those of metrics that are not the headline. */
  readonly elsewhere: readonly MeasuredTable[];
  /** The lines that an arm's guest has printed. */
  readonly linesOf: (arm: string) => readonly LineMessage[];
}

/** A panel that a scene can name in `show`. */
export interface Panel {
  readonly title: string;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  readonly Body: ComponentType<PanelProps>;
}

export interface ViewKind {
  readonly kind: string;
  /** Facts about the view for authors of lessons. */
  readonly about: About;
  /** Knobs of the view's model. A lesson declares those that a viewer can set, with `applies: model`. */
  readonly knobs?: readonly string[];
  /** Create the artist of a scene. Each canvas has its own artist, so an artist can contain a cache. */
  readonly artist: (lesson: Lesson, show?: Scene['show']) => Artist;
  /** Explain a mark for its drawer. By default the explanation comes from the lane's own tables (derive/behind.ts). */
  readonly behind?: (index: RunIndex, frame: Frame, lesson: Lesson, mark: Mark) => Behind | null;
  /** Describe one point of a counting axis. By default the description names the fields in which points differ. */
  readonly entryWords?: EntryWords;
  /** Describe the window in words, with one sentence per lane. */
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
  /** Comfortable height, px, in a window of at most 700 px width; null for the height of wider windows. */
  readonly narrowHeight?: (index: RunIndex, lesson: Lesson, show?: Scene['show']) => number | null;
  /** In a low window, the lanes can shrink to this share of the comfortable height; default 0.62. */
  readonly leastShare?: number | ((lanes: number) => number);
  /** Sentences that a scene can name; 'none' needs no entry. */
  readonly sentences: Readonly<Record<string, Sentence>>;
  /**
   * Whether the view's sentences mention marks and regions. The view's artist then draws one outline around each mark
   * and region that the sentence mentions at the frame's moment.
   */
  readonly outlines?: boolean;
  /** Moments that this view defines in addition to those of every view. */
  readonly moments?: Readonly<Record<string, MomentFinder>>;
  /** Answers that this view computes for predictions, in addition to ops_ratio. */
  readonly answers?: Readonly<Record<string, Answerer>>;
  /**
   * For each answer, the parts of the page that would reveal it: names of panels, 'counts', 'overview'. The page hides
   * these parts in the steps before the step that asks for the prediction. For an answer without an entry, the page
   * hides all parts.
   */
  readonly tells?: Readonly<Record<string, readonly string[]>>;
  readonly panels?: Readonly<Record<string, Panel>>;
  /** Toys that a scene can name in `toy`. A toy lets the viewer try a rule, and needs no run. */
  readonly toys?: Readonly<Record<string, Toy | TileToy>>;
  readonly counts?: (index: RunIndex, frame: Frame, lesson: Lesson) => Counts;
  /**
   * Kinds in the legend of a scene. By default these are the kinds in focus, or if no kind is in focus, all kinds of
   * the lesson. `there` contains the kinds with a span in the run on the stage; null if there is no run yet.
   */
  readonly legend?: (
    lesson: Lesson,
    scene: Scene,
    there: ReadonlySet<string> | null,
  ) => readonly Kind[];
  /** Opacity of kinds that are not in focus, in the picture and in the legend. By default they are not muted. */
  readonly mutes?: number;
  /** Sample of a kind for legends, painted with the view's own brush. */
  readonly Swatch: ComponentType<SwatchProps>;
}

export interface SwatchProps {
  readonly kind: string;
  readonly kinds: readonly KindFacts[];
  readonly theme: Theme;
  readonly width?: number;
  readonly height?: number;
}
