// SPDX-License-Identifier: GPL-2.0-or-later
/** How each kind of box and each unit of the budget is painted: fill, border and letter differ, not colour alone. */

import type { Theme } from '../../base/theme.ts';
import { type Fill, mix, type Pen, type TileMaker } from '../paints.ts';
import type { Look } from './looks.ts';

export interface Brush {
  readonly fill: Fill | null;
  readonly border: string | null;
  readonly dashed?: boolean;
  /** Too small for dashes it is a line at the foot of the box. */
  readonly floor?: boolean;
  /** Colour of the letter; null: it has none. */
  readonly letter: string | null;
  /** A dot in the corner: a second chance. */
  readonly dot?: string;
}

export type Brushes = Readonly<Record<Look | 'left' | 'spent_vain' | 'spent_gain', Brush>> & {
  readonly mechanism: string;
  readonly ink: string;
  readonly mono: string;
};

const made = new WeakMap<TileMaker, Map<Theme, Brushes>>();

export function brushesFor(theme: Theme, tiles: TileMaker): Brushes {
  let themes = made.get(tiles);
  if (themes === undefined) {
    themes = new Map();
    made.set(tiles, themes);
  }
  let brushes = themes.get(theme);
  if (brushes === undefined) {
    brushes = make(theme, tiles);
    themes.set(theme, brushes);
  }
  return brushes;
}

function make(theme: Theme, tiles: TileMaker): Brushes {
  const { paper, work, vain, gain, mechanism, soft, other, idle } = theme;
  // Where boxes are too small for letters their edges tell that they are there.
  const may = { fill: mix(other, paper, 0.2), border: mix(other, theme.ink, 0.75), letter: soft };
  return {
    unknown: {
      fill: tiles('fog', { ground: paper, ink: mix(idle, paper, 0.7) }),
      border: null,
      letter: null,
    },
    delayed: { fill: mix(work, paper, 0.82), border: null, letter: paper },
    written: may,
    hole: { ...may, dashed: true },
    unwritten: {
      ...may,
      fill: tiles('backslash', { ground: paper, ink: mix(other, paper, 0.5) }),
    },
    vain: { fill: null, border: vain, letter: soft },
    spared: {
      fill: mix(mechanism, paper, 0.16),
      border: mechanism,
      letter: theme.ink,
      dot: mechanism,
    },
    freed: { fill: gain, border: null, letter: paper },
    gone: { fill: null, border: vain, dashed: true, floor: true, letter: null },
    left: { fill: mix(mechanism, paper, 0.3), border: mechanism, letter: null },
    spent_vain: { fill: null, border: vain, letter: null },
    spent_gain: { fill: gain, border: null, letter: null },
    mechanism,
    ink: theme.ink,
    mono: theme.mono,
  };
}

interface Corner {
  readonly x: number;
  readonly y: number;
}

/** Narrower boxes have plain borders: thousands of dashed ones cost more than all the rest. */
const dashedFrom = 9;

/** A plus in the middle of a box, where others have their letter. */
export function drawPlus(pen: Pen, { x, y }: Corner, width: number, height: number): void {
  const arm = Math.max(3, Math.min(9, width * 0.6, height * 0.6));
  const thick = arm >= 6 ? 2 : 1;
  const [left, top] = [x + (width - arm) / 2, y + (height - arm) / 2];
  pen.fillRect(left, top + (arm - thick) / 2, arm, thick);
  pen.fillRect(left + (arm - thick) / 2, top, thick, arm);
}

/** Boxes of one kind. Rectangles one by one: a path of thousands takes several times as long to fill. */
export function brushBox(
  pen: Pen,
  brush: Brush,
  corners: readonly Corner[],
  width: number,
  height = width,
): void {
  const { fill, border } = brush;
  if (fill !== null) {
    pen.fillStyle = fill;
    for (const { x, y } of corners) pen.fillRect(x, y, width, height);
  }
  // Below some pixels a border is all there is: hollow must still be seen as hollow.
  if (border !== null && brush.floor === true && width < dashedFrom) {
    pen.fillStyle = border;
    for (const { x, y } of corners) pen.fillRect(x, y + height - 1, width, 1);
  } else if (border !== null && (width >= 4 || fill === null)) {
    const dashed = brush.dashed === true && width >= dashedFrom;
    pen.strokeStyle = border;
    pen.lineWidth = 1;
    if (dashed) pen.setLineDash([2, 2]);
    for (const { x, y } of corners) pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    if (dashed) pen.setLineDash([]);
  }
  if (brush.dot !== undefined && width >= 8) {
    pen.fillStyle = brush.dot;
    pen.beginPath();
    for (const { x, y } of corners) pen.rect(x + width - 4, y + 1, 3, 3);
    pen.fill();
  }
}
