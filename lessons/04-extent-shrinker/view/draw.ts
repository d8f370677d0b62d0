// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Draws a lane: boxes with their letters, the list that runs through them, the frame at the scan's position, the
 * budget, and the figures.
 */

import type { Theme } from '@page/base/theme.ts';
import { figure } from '@page/derive/figures.ts';
import type { Mark } from '@page/derive/types.ts';
import type { Drawing } from '@page/views/contract.ts';
import { type Fill, mix, type Pen, type TileMaker } from '@page/views/paints.ts';
import { chargeWords, figures, soFarBegin, soFarWords } from './figures.ts';
import { cellAt, type Grid, type StripLane, type StripLayout } from './layout.ts';
import {
  boxesOf,
  drawSpoken,
  handBox,
  type Look,
  letterIn,
  lookOf,
  looks,
  spending,
} from './marks.ts';
import { absence, hasList, type LaneNow, laneNow, letters, newness, threadOf } from './replay.ts';

// How each kind of box and each unit of the budget is painted. Fill, border and letter differ, not only the colour.

export interface Brush {
  readonly fill: Fill | null;
  readonly border: string | null;
  readonly dashed?: boolean;
  /** Whether a box that is too small for a dashed border gets a line at its bottom instead. */
  readonly floor?: boolean;
  /** Colour of the letter; null if there is no letter. */
  readonly letter: string | null;
  /** Colour of a dot in the corner, which marks a referenced entry that the scan spared once. */
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
  // Boxes of entries that may be freed have an edge, so that they stay visible when they are too small for a letter.
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

/** Least width of boxes with dashed borders, px. Thousands of dashed borders take longer than all other drawing. */
const dashedFrom = 9;

/** Draw a plus in the middle of a box, in place of its letter. */
export function drawPlus(pen: Pen, { x, y }: Corner, width: number, height: number): void {
  const arm = Math.max(3, Math.min(9, width * 0.6, height * 0.6));
  const thick = arm >= 6 ? 2 : 1;
  const [left, top] = [x + (width - arm) / 2, y + (height - arm) / 2];
  pen.fillRect(left, top + (arm - thick) / 2, arm, thick);
  pen.fillRect(left + (arm - thick) / 2, top, thick, arm);
}

/**
 * Draw boxes of one kind. Rectangles are filled one by one, because filling a path of thousands of
 * rectangles takes several times as long.
 */
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
  // The border of a small box must leave its interior visible, so that a hollow box looks hollow.
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

// Writes the number of entries of each letter, to the left of a lane's boxes.

/** Arrow that follows the number of a letter if no row begins with this letter. */
const furtherOn = ' →';

/** Return the first row that begins with the letter. If no row does, return the row of the letter's first box. */
function rowOfLetter(
  grid: Grid,
  { letter: of }: LaneNow['boxes'],
  letter: number,
): { readonly row: number; readonly begins: boolean } | null {
  const first = of.indexOf(letter);
  if (first < 0) return null;
  for (let row = 0; row < grid.rows; row++)
    if (of[row * grid.columns] === letter) return { row, begins: true };
  return { row: Math.floor(first / grid.columns), begins: false };
}

/** Write the number of entries of each letter next to its row. */
function countLetters(
  pen: Pen,
  { fontSize, gutter }: StripLayout,
  { grid }: StripLane,
  { theme }: Drawing,
  { lane, boxes }: LaneNow,
): void {
  const found = letters.flatMap((name, letter) => {
    const at = letter === 0 ? null : rowOfLetter(grid, boxes, letter);
    return at === null ? [] : [{ name, letter, ...at }];
  });
  pen.save();
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  let lowest = Number.NEGATIVE_INFINITY;
  for (const { name, letter, row, begins } of found.sort((a, b) => a.row - b.row)) {
    let n = 0;
    for (let box = 0; box < grid.boxes; box++)
      if (boxes.letter[box] === letter && boxes.there[box] === 1) n += 1;
    const { y } = cellAt(grid, row * grid.columns);
    const at = Math.max(lowest + fontSize * 1.4, y + grid.high / 2 + 0.5);
    lowest = at;
    const number = `${figure('now', lane.arm, `letter ${letter} there`, n)}${begins ? '' : furtherOn}`;
    pen.font = `${fontSize}px ${theme.font}`;
    pen.fillStyle = theme.soft;
    pen.fillText(number, gutter - 9, at);
    const width = pen.measureText(number).width;
    pen.font = `600 ${fontSize}px ${theme.mono}`;
    pen.fillText(name, gutter - 9 - width - 6, at);
  }
  pen.restore();
}

export function drawStrip(
  pen: Pen,
  layout: StripLayout,
  drawing: Drawing,
  pointed: Mark | null,
  tiles: TileMaker,
): void {
  const { theme, size } = drawing;
  pen.clearRect(0, 0, size.width, size.height);
  const brushes = brushesFor(theme, tiles);
  for (const laid of layout.lanes) {
    const lane = drawing.index.lanes.find((one) => one.arm === laid.arm);
    if (lane === undefined) continue;
    drawLane(pen, layout, laid, drawing, laneNow(drawing, lane), brushes);
    if (pointed?.arm === laid.arm) drawPointed(pen, layout, drawing, pointed);
  }
}

/** Draw a ring around the mark under the pointer. */
function drawPointed(pen: Pen, layout: StripLayout, { theme, lesson }: Drawing, mark: Mark): void {
  pen.save();
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 1.5;
  for (const { x, y, w, h } of boxesOf(layout, lesson, mark))
    pen.strokeRect(x - 2, y - 2, w + 4, h + 4);
  pen.restore();
}

function drawLane(
  pen: Pen,
  layout: StripLayout,
  laid: StripLane,
  drawing: Drawing,
  scene: LaneNow,
  brushes: Brushes,
): void {
  const { theme, frame } = drawing;
  const { fontSize } = layout;
  const muted = (kind: string) => frame.focus.size > 0 && !frame.focus.has(kind);
  drawBoxes(pen, laid, scene, brushes, fontSize, muted);
  if (hasList(scene.lane)) drawThread(pen, laid, scene, brushes, muted('thread'));
  drawSpoken(pen, laid, drawing, scene);
  drawBack(pen, laid, scene, brushes);
  drawAsked(pen, laid, scene, brushes);
  drawHand(pen, laid, scene, brushes);
  countLetters(pen, layout, laid, drawing, scene);
  drawMeter(pen, layout, laid, drawing, scene, brushes);
  if (scene.blocks.length === 0) {
    pen.font = `${fontSize}px ${theme.font}`;
    pen.fillStyle = theme.soft;
    pen.textBaseline = 'top';
    pen.fillText(absence(scene.lane), laid.grid.x, laid.grid.y);
  }
}

function drawBoxes(
  pen: Pen,
  { grid }: StripLane,
  { boxes, now }: LaneNow,
  brushes: Brushes,
  fontSize: number,
  muted: (kind: string) => boolean,
): void {
  const groups = new Map<Look, number[]>(looks.map((look) => [look, []]));
  for (let box = 0; box < grid.boxes; box++) groups.get(lookOf(boxes, box, now))!.push(box);
  const edge = grid.cell - grid.gap;
  pen.save();
  pen.font = `600 ${fontSize}px ${brushes.mono}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  for (const [look, of] of groups) {
    if (of.length === 0) continue;
    pen.globalAlpha = muted(look) ? 0.5 : 1;
    brushBox(
      pen,
      brushes[look],
      of.map((box) => cellAt(grid, box)),
      edge,
      grid.high,
    );
    const { letter } = brushes[look];
    if (!grid.lettered || letter === null) continue;
    pen.fillStyle = letter;
    for (const box of of) {
      if (newness(boxes, box, now) > 0) continue;
      const { x, y } = cellAt(grid, box);
      pen.fillText(letterIn(boxes, box), x + edge / 2, y + grid.high / 2 + 0.5);
    }
  }
  pen.restore();
}

/** Draw a line through the entries in the order in which a scan will meet them, with a knot at each entry. */
function drawThread(
  pen: Pen,
  { grid }: StripLane,
  { boxes }: LaneNow,
  brushes: Brushes,
  muted: boolean,
): void {
  const on = threadOf(boxes);
  if (on.length === 0 || grid.cell < 3) return;
  // Where there is room, the line runs between the rows, so that it does not strike out letters.
  const low = grid.lettered ? (grid.high + grid.pitch) / 2 : grid.high / 2;
  const at = (box: number) => {
    const { x, y } = cellAt(grid, box);
    return { x: x + (grid.cell - grid.gap) / 2, y: y + low };
  };
  pen.save();
  pen.globalAlpha = muted ? 0.35 : 0.85;
  pen.strokeStyle = brushes.mechanism;
  pen.fillStyle = brushes.mechanism;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const [i, box] of on.entries()) {
    const { x, y } = at(box);
    const before = on[i - 1];
    // Where the list continues in another row, the line is interrupted, so that it does not cross the boxes.
    const turns = before !== undefined && at(before).y !== y;
    if (before === undefined || turns) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  }
  pen.stroke();
  if (grid.cell >= 10) {
    pen.beginPath();
    for (const box of on) {
      const { x, y } = at(box);
      pen.moveTo(x + 1.9, y);
      pen.arc(x, y, 1.9, 0, 7);
    }
    pen.fill();
  }
  const head = at(on[0]!);
  pen.beginPath();
  pen.moveTo(head.x + grid.cell * 0.55, head.y - 4);
  pen.lineTo(head.x + grid.cell * 0.55 + 6, head.y);
  pen.lineTo(head.x + grid.cell * 0.55, head.y + 4);
  pen.fill();
  pen.restore();
}

/** An entry that answered a reader stays highlighted for this number of visits. */
const glow = 12;

function drawAsked(pen: Pen, { grid }: StripLane, { boxes, now }: LaneNow, brushes: Brushes): void {
  pen.save();
  pen.strokeStyle = brushes.ink;
  pen.lineWidth = grid.cell >= 10 ? 1.6 : 1;
  for (let box = 0; box < grid.boxes; box++) {
    const at = boxes.asked[box]! - 1;
    // Before the first scan, events report every entry once. These reports are not answers to a reader.
    if (at < 1) continue;
    const age = now.visits - at;
    if (age < 0 || age > glow) continue;
    pen.globalAlpha = 1 - (age / glow) * 0.75;
    const { x, y } = cellAt(grid, box);
    const edge = grid.cell - grid.gap;
    pen.strokeRect(x + 0.8, y + 0.8, edge - 1.6, grid.high - 1.6);
  }
  pen.restore();
}

/** On entries that a lookup has just put back, draw a fading plus instead of the letter. */
function drawBack(pen: Pen, { grid }: StripLane, { boxes, now }: LaneNow, brushes: Brushes): void {
  pen.save();
  pen.fillStyle = brushes.ink;
  for (let box = 0; box < grid.boxes; box++) {
    const alpha = newness(boxes, box, now);
    if (alpha === 0) continue;
    pen.globalAlpha = 0.5 + 0.5 * alpha;
    drawPlus(pen, cellAt(grid, box), grid.cell - grid.gap, grid.high);
  }
  pen.restore();
}

/** Draw a frame around the entry that the scan visited last. */
function drawHand(pen: Pen, { grid }: StripLane, scene: LaneNow, brushes: Brushes): void {
  const box = handBox(scene);
  if (box < 0) return;
  const { x, y } = cellAt(grid, box);
  const edge = Math.max(6, grid.cell - grid.gap);
  pen.save();
  pen.globalAlpha = scene.now.over ? 0.45 : 1;
  pen.strokeStyle = brushes.mechanism;
  pen.lineWidth = grid.cell >= 12 ? 2.5 : 2;
  pen.strokeRect(x - 1, y - 1, edge + 2, Math.max(6, grid.high) + 2);
  pen.restore();
}

function drawMeter(
  pen: Pen,
  { fontSize }: StripLayout,
  laid: StripLane,
  drawing: Drawing,
  scene: LaneNow,
  brushes: Brushes,
): void {
  const { theme } = drawing;
  const { facts, now, lane } = scene;
  const visit = lane.pointsOf('visit');
  const units = spending((v) => lane.points.e[visit.order[v]!]!, facts, now);
  const height = Math.round(fontSize * 1.15);
  pen.save();
  const gap = laid.unit >= 6 ? 2 : laid.unit >= 4 ? 1 : 0;
  for (let unit = 0; unit < facts.budget; unit++) {
    const what = units[unit] ?? 'left';
    brushBox(
      pen,
      brushes[what],
      [{ x: laid.grid.x + unit * laid.unit, y: laid.meterY }],
      laid.unit - gap,
      height,
    );
  }
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  let middle = laid.wordsY + height / 2 + 0.5;
  let x = laid.wordsX;
  const sumsBelow = laid.wordLines > 1;
  const say = (text: string, colour: string, weight = 400) => {
    pen.font = `${weight} ${fontSize}px ${theme.font}`;
    pen.fillStyle = colour;
    pen.fillText(text, x, middle);
    x += pen.measureText(text).width;
  };
  say(chargeWords(scene), theme.soft);
  const newLine = () => {
    x = laid.wordsX;
    middle += fontSize * 1.6;
  };
  if (laid.wordLines > 2) newLine();
  else x += fontSize * 1.2;
  for (const { text, strong } of figures(scene)) {
    if (sumsBelow && text === soFarWords) newLine();
    say(
      sumsBelow && text === soFarWords ? soFarBegin : text,
      strong ? theme.ink : theme.soft,
      strong ? 600 : 400,
    );
  }
  pen.restore();
}
