// SPDX-License-Identifier: GPL-2.0-or-later
/** What a kind of view is. A folder below views/ whose index.tsx exports `view` is found by looking. */

import type { ComponentType, ReactNode } from 'react';
import type { Theme } from '../base/theme.ts';
import type { NearbyRow } from '../derive/summary.ts';
import type { Frame, FrameSource, Mark, RunIndex, Size } from '../derive/types.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { Pen, TileMaker } from './paints.ts';

export interface CanvasProps {
  readonly runIndex: RunIndex;
  readonly lesson: Lesson;
  readonly frame: FrameSource;
  readonly theme: Theme;
  /** Parts that the scene shows; without it all. */
  readonly show?: Scene['show'];
  /** Put over each lane instead of the title that the view would draw. */
  readonly header?: (arm: string) => ReactNode;
  readonly headerHeight?: number;
  /** Of labels, axis and readout, px; at least 13. Present mode: 20. */
  readonly fontSize?: number;
  readonly onHover?: (mark: Mark | null) => void;
  readonly onSelect?: (mark: Mark | null) => void;
  /** The playhead was dragged to this moment (frame time). */
  readonly onSeek?: (moment: number) => void;
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

export interface ViewKind {
  readonly kind: string;
  /** Layers and tables it draws; a lesson without them has nothing for it. */
  readonly needs: readonly string[];
  readonly draw: (pen: Pen, drawing: Drawing, tiles: TileMaker) => void;
  readonly hitTest: (drawing: Drawing, x: number, y: number) => Mark | null;
  /** A mark in words. */
  readonly describe: (index: RunIndex, mark: Mark, lesson: Lesson) => string;
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
  readonly Canvas: ComponentType<CanvasProps>;
}
