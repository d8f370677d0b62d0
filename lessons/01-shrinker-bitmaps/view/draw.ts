// SPDX-License-Identifier: GPL-2.0-or-later
/** Draws each wall: its image, its axes, marks for the newest visit, and the counts so far. */

import { t, t as tr } from '@page/base/lang/t.ts';
import type { Theme } from '@page/base/theme.ts';
import { formatCount, ns } from '@page/base/units.ts';
import { heldTime, laneTime } from '@page/derive/align.ts';
import { figure } from '@page/derive/figures.ts';
import { laneOf, lostIn } from '@page/derive/query.ts';
import type { LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import type { Artist, Drawing, Row } from '@page/views/contract.ts';
import { cellRow } from '@page/views/items.ts';
import { mix, type Pen, type TileMaker } from '@page/views/paints.ts';
import { edgesOf, strokeRegion } from '@page/views/region.ts';
import { type Clearing, clearingAt, clearingTimes, foundAgain } from './clearings.ts';
import { cellBox, type LaidWall, layoutWalls, type Steps, type WallLayout } from './layout.ts';
import {
  type CountsNow,
  callName,
  callTime,
  cellOf,
  counted,
  describeCell,
  markAt,
  markOfCell,
  newestMark,
  touches,
} from './marks.ts';
import { type Grid, gridSize, rowTop, Sprites, WallImage } from './paint.ts';
import { type Cells, Count, memcgName, roomOf, Seen, type Wall, wallOf } from './wall.ts';

// Paints the steps of a clearing on a time axis: checks, clear, barrier, and the bit below.

/** End of the first check and end of the second check, as shares of the width. */
const lookEnd = 0.22;
const againEnd = 0.72;

class Strip {
  readonly pen: Pen;
  readonly theme: Theme;
  readonly fontSize: number;
  readonly line: number;
  readonly x: number;
  readonly width: number;

  readonly timed: boolean;

  constructor(pen: Pen, theme: Theme, { fontSize, line, width, timed }: Steps, x: number) {
    this.pen = pen;
    this.theme = theme;
    this.fontSize = fontSize;
    this.line = line;
    this.x = x;
    this.width = width;
    this.timed = timed;
  }

  text(words: string, dx: number, y: number, colour: string, weight = 400): void {
    const { pen, theme } = this;
    pen.font = `${weight} ${this.fontSize}px ${theme.font}`;
    pen.fillStyle = colour;
    pen.textAlign = 'left';
    pen.textBaseline = 'alphabetic';
    pen.fillText(words, this.x + dx, y);
  }

  /** Tell whether the strip is too narrow for the long labels. The tooltip contains the long labels as well. */
  narrow(): boolean {
    return this.width < this.fontSize * 19;
  }

  title(words: string, y: number): void {
    this.text(words, 0, y, this.theme.ink, 600);
  }

  /** Draw the steps. Steps after t are hollow. */
  steps(lane: LaneIndex, one: Clearing, t: number, y: number): void {
    const { pen, theme, line, width, fontSize } = this;
    const at = (when: number) =>
      width * (lookEnd + ((againEnd - lookEnd) * (when - one.look)) / (one.again - one.look));
    const clear = at(one.clear);
    const fence = clear + fontSize * 0.75;
    const second = fence + fontSize * 0.5;
    const [boxTop, boxHigh] = [y + line * 0.35, Math.round(line * 0.8)];
    const cleared = t >= one.clear;
    const over = t >= one.again;
    const found = foundAgain(one);

    const narrow = this.narrow();
    this.text(narrow ? tr('empty') : tr('checks: empty'), 0, y, theme.ink);
    const again = over
      ? found
        ? tr('checks again: found')
        : tr('checks again: empty')
      : tr('checks again');
    this.text(narrow ? tr('again') : again, second, y, over ? theme.ink : theme.soft);
    this.box(0, width * lookEnd, boxTop, boxHigh, theme.vain, true);
    this.box(second, width * againEnd, boxTop, boxHigh, theme.mechanism, over);
    this.diamond(clear, boxTop + boxHigh / 2, boxHigh * 0.42, cleared);
    pen.fillStyle = cleared ? theme.ink : theme.soft;
    const low = boxTop - line * 0.1;
    const tall = boxHigh + line * 0.75;
    pen.fillRect(this.x + fence - 2, low, 1.5, tall);
    pen.fillRect(this.x + fence + 1.5, low, 1.5, tall);

    // Draw the bit below the steps. The bit is set until the clear.
    const bitTop = boxTop + boxHigh + line * 0.2;
    const bitHigh = Math.round(line * 0.32);
    this.band(0, clear, bitTop, bitHigh, true);
    this.band(clear, width, bitTop, bitHigh, !cleared);
    if (one.set !== null && t >= one.set) this.band(at(one.set), width, bitTop, bitHigh, true);
    const below = bitTop + bitHigh + fontSize + 3;
    this.text(narrow ? tr('bit') : tr('bit set'), 0, below, theme.mechanism);
    const short = narrow ? tr('clear') : tr('cleared, barrier');
    const left = Math.max(clear - fontSize * 0.5, width * lookEnd);
    this.text(short, left, below, theme.ink);
    const room = left + pen.measureText(short).width + fontSize;
    const fates = found
      ? [tr('found an object: set again'), tr('set again')]
      : [tr('if an object is found: set again'), tr('else set again')];
    const fate = fates.find((words) => width - pen.measureText(words).width > room);
    if (fate !== undefined) {
      const right = width - pen.measureText(fate).width;
      this.text(fate, right, below, found ? theme.mechanism : theme.soft);
    }
    if (!this.timed || narrow) return;
    const [first, last] = clearingTimes(lane.arm, one);
    const times = tr('{first} to the clear, {last} to the second check', { first, last });
    this.text(times, 0, below + line, theme.soft);
  }

  box(from: number, to: number, y: number, high: number, colour: string, done: boolean): void {
    const { pen, theme } = this;
    pen.fillStyle = done ? mix(colour, theme.paper, 0.3) : theme.paper;
    pen.fillRect(this.x + from, y, to - from, high);
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.setLineDash(done ? [] : [3, 3]);
    pen.strokeRect(this.x + from, y, to - from, high);
    pen.setLineDash([]);
  }

  band(from: number, to: number, y: number, high: number, set: boolean): void {
    const { pen, theme } = this;
    pen.fillStyle = set ? theme.mechanism : theme.paper;
    pen.fillRect(this.x + from, y, to - from, high);
    pen.strokeStyle = theme.mechanism;
    pen.lineWidth = 1;
    pen.strokeRect(this.x + from, y, to - from, high);
  }

  diamond(dx: number, y: number, r: number, done: boolean): void {
    const { pen, theme } = this;
    const x = this.x + dx;
    pen.beginPath();
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.lineTo(x, y - r);
    pen.fillStyle = done ? theme.mechanism : theme.paper;
    pen.fill();
    pen.strokeStyle = theme.mechanism;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}

// Draws to scale how a bit is cleared: a check that finds nothing, the clear, and the second check.
// The barrier has no event. It is drawn directly after the clear, as in the kernel's code.
// The event of a check is written when the check ends.
// So the start of the first check is unknown, and its box has a fixed length.

/** Return the clearing that a lane's picture shows; null if the current call has no clearing yet. */
function shownClearing(wall: Wall, drawing: Pick<Drawing, 'frame'>): Clearing | null {
  const { lane, readsMap } = wall.replay;
  if (!readsMap) return null;
  const t = heldTime(lane, drawing.frame);
  const { n } = wall.at(t, 'draw');
  if (n[Count.call] === 0) return null;
  return clearingAt(lane, n[Count.began]!, t, drawing.frame.span);
}

/** Return the mark of the cell whose bit a clearing clears. */
function clearingMark(index: RunIndex, wall: Wall, one: Clearing): Mark {
  const row = wall.replay.rows[one.at]!;
  return markOfCell(index, wall.replay.lane.arm, row, one.id, 'visit_again', ns(one.clear));
}

function drawClearing(pen: Pen, layout: WallLayout, laid: LaidWall, drawing: Drawing): void {
  const { clearing } = layout;
  const lane = drawing.index.lanes.find((l) => l.arm === laid.arm);
  if (clearing === null || lane === undefined) return;
  const { theme } = drawing;
  const wall = wallOf(lane, drawing.lesson);
  const strip = new Strip(pen, theme, clearing, laid.x + clearing.dx);
  const { line } = clearing;
  const top = clearing.y + clearing.fontSize;
  if (!wall.replay.readsMap) {
    if (strip.narrow()) return strip.text(tr('clears no bit'), 0, top, theme.soft);
    strip.text(tr('How a bit is cleared: never with this walk.'), 0, top, theme.soft);
    strip.text(tr('This walk needs no second check and no barrier.'), 0, top + line, theme.soft);
    return;
  }
  const one = shownClearing(wall, drawing);
  if (one === null) {
    const t = heldTime(lane, drawing.frame);
    const seen = wall.at(t, 'draw').n;
    const why =
      seen[Count.cleared]! > 0
        ? tr('the steps are not traced one by one')
        : tr('this call has cleared no bit yet');
    strip.text(
      strip.narrow() ? tr('no bit cleared') : tr('How a bit is cleared: {why}', { why }),
      0,
      top,
      theme.soft,
    );
    return;
  }
  const row = wall.replay.rows[one.at]!;
  const { x, y, wide, high } = cellBox(layout, laid, row, one.id);
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 1.5;
  pen.strokeRect(x - 2, y - 2, wide + 3, high + 3);
  const whose = tr('{memcg}, shrinker {id}', { memcg: memcgName(wall.replay, row), id: one.id });
  strip.title(
    strip.narrow() ? tr('how a bit is cleared') : tr('How a bit is cleared: {whose}', { whose }),
    top,
  );
  strip.steps(lane, one, heldTime(lane, drawing.frame), top + line);
}

// Outlines the cells that a sentence mentions: visited, with a set bit, with a cleared bit, or touched by a container.

export const regions = ['visited', 'set', 'again', 'touched'] as const;
export type WallRegion = (typeof regions)[number];

/** Return a function that tells whether a cell is in a region at t. */
export function regionOf(
  wall: Wall,
  cells: Cells,
  name: WallRegion,
  t: number,
): (row: number, col: number) => boolean {
  const { grid, rows, lane } = wall.replay;
  const at = (row: number, col: number) => row * grid.stride + col;
  if (name === 'visited') return (row, col) => cells.seen[at(row, col)] !== Seen.none;
  if (name === 'set') return (row, col) => cells.bit[at(row, col)] !== 0;
  if (name === 'again') {
    return (row, col) => {
      const seen = cells.seen[at(row, col)];
      return seen === Seen.again || seen === Seen.cleared;
    };
  }
  const done = touches(lane).filter((touch) => touch.t <= t);
  const touched = new Set(done.map((touch) => at(rows[touch.at]!, lane.points.b[touch.at]!)));
  return (row, col) => touched.has(at(row, col));
}

function drawSpoken(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  { frame, theme }: Drawing,
  wall: Wall,
  cells: Cells,
  t: number,
): void {
  const { grid, scale } = layout;
  const known = Math.min(grid.rows, wall.replay.grid.memcgs.length - 1);
  const cols = Math.min(grid.cols, wall.replay.grid.cols);
  for (const name of regions) {
    if (!frame.regions?.some((one) => one.arm === laid.arm && one.name === name)) continue;
    const holds = regionOf(wall, cells, name, t);
    // The root's row is not part of a region, so edgesOf() counts rows from the row after it.
    const edges = edgesOf(known, cols, (row, col) => holds(row + 1, col));
    const x = (col: number) => laid.x + col * grid.pitch * scale;
    const y = (row: number) => laid.y + rowTop(grid, row + 1) * scale;
    strokeRegion(
      pen,
      theme,
      edges.map(({ c0, r0, c1, r1 }) => [x(c0), y(r0), x(c1), y(r1)]),
      Math.min(grid.pitch, grid.tall) * scale < 10 ? 1 : 1.5,
    );
  }
}

const images = new WeakMap<Wall, WallImage>();
let kept: { readonly key: string; readonly sprites: Sprites } | null = null;

function spritesFor(grid: Grid, theme: Theme, focus: ReadonlySet<string>): Sprites {
  const { pitch, tall } = grid;
  const key = [pitch, tall, theme.name, ...focus].join(' ');
  if (kept?.key !== key) kept = { key, sprites: new Sprites(pitch, tall, theme, focus) };
  return kept.sprites;
}

export function drawWalls(
  pen: Pen,
  layout: WallLayout,
  drawing: Drawing,
  pointed: Mark | null,
  tiles: TileMaker,
): void {
  const { index, size } = drawing;
  pen.clearRect(0, 0, size.width, size.height);
  for (const laid of layout.lanes) {
    const lane = index.lanes.find((l) => l.arm === laid.arm);
    if (lane === undefined) continue;
    const wall = wallOf(lane, drawing.lesson);
    const t = heldTime(lane, drawing.frame);
    const cells = wall.at(t, 'draw');
    drawImage(pen, layout, laid, drawing, wall, cells);
    drawAxes(pen, layout, laid, drawing, wall);
    drawSpoken(pen, layout, laid, drawing, wall, cells, t);
    drawNewest(pen, layout, laid, drawing.theme, cells);
    const unknown = t > lane.watermark && !lane.ended;
    if (unknown) drawUnknown(pen, layout, laid, drawing.theme, tiles);
    const marks = [drawing.frame.selection, pointed].filter((m) => m?.arm === laid.arm);
    for (const mark of marks) if (mark) drawRing(pen, layout, laid, mark, drawing.theme);
    drawWords(pen, layout, laid, drawing, wall, cells, t, unknown);
    if (!unknown) drawClearing(pen, layout, laid, drawing);
  }
}

function drawImage(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  { frame, theme }: Drawing,
  wall: Wall,
  cells: Cells,
): void {
  let image = images.get(wall);
  if (image === undefined) {
    image = new WallImage();
    images.set(wall, image);
  }
  const sprites = spritesFor(layout.grid, theme, frame.focus);
  const now = laneTime(frame.offset, laid.arm, frame.moment);
  const canvas = image.paint(wall, cells, layout.grid, frame, now, sprites);
  if (canvas === null) {
    const { width, height } = gridSize(layout.grid);
    pen.fillStyle = theme.sunk;
    pen.fillRect(laid.x, laid.y, width * layout.scale, height * layout.scale);
    return;
  }
  pen.drawImage(canvas, laid.x, laid.y, laid.wide, laid.high);
}

function text(pen: Pen, theme: Theme, size: number, weight: number, colour: string): void {
  pen.font = `${weight} ${size}px ${theme.font}`;
  pen.fillStyle = colour;
}

/** Draw the axes: shrinker ids along the top, with borders where a word of the maps ends, and memcgs along the side. */
function drawAxes(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  { theme, size }: Drawing,
  wall: Wall,
): void {
  const { grid, scale, fontSize, line } = layout;
  const cell = grid.pitch * scale;
  const { replay } = wall;
  const y = laid.y - 7;
  text(pen, theme, fontSize, 400, theme.faint);
  pen.textBaseline = 'alphabetic';
  pen.textAlign = 'left';
  const ids =
    replay.grid.cols > 0
      ? tr('0 to {last}: shrinker ids', { last: formatCount(replay.grid.cols - 1) })
      : '';
  pen.fillText(ids, laid.x, y);
  const room = laid.x + pen.measureText(ids).width + 10;
  pen.textAlign = 'center';
  const every = cell * 64 < 44 ? 256 : 64;
  for (let id = every; id < replay.grid.cols; id += every) {
    const x = Math.round(laid.x + id * cell);
    // Each word of the maps has 64 bits. Where a word ends, all maps had to grow.
    pen.fillStyle = theme.faint;
    pen.fillRect(x - 1, laid.y - 5, 1, 4);
    pen.fillRect(x - 1, laid.y + laid.high + 1, 1, 4);
    if (x - 14 > room) pen.fillText(String(id), x, y);
  }
  text(pen, theme, fontSize, 400, theme.faint);
  pen.textAlign = 'right';
  const tall = grid.tall * scale;
  if (tall >= 3) pen.fillText(tr('root'), laid.x - 7, laid.y + tall / 2 + fontSize * 0.35);
  const rows = replay.grid.memcgs.length - 1;
  if (rows < 1) return;
  const middle = laid.y + (rowTop(grid, 1) + (rows * grid.tall) / 2) * scale;
  const words = tr('{memcgs} memcgs', { memcgs: figure('now', replay.lane.arm, 'memcgs', rows) });
  if (rows * tall < pen.measureText(words).width + line) {
    pen.fillText(String(rows), laid.x - 7, middle + fontSize * 0.35);
    return;
  }
  pen.save();
  const { dpr } = size;
  pen.setTransform(0, -dpr, dpr, 0, (laid.x - 9) * dpr, middle * dpr);
  pen.textAlign = 'center';
  pen.fillText(words, 0, 0);
  pen.restore();
}

/** Mark the row and the column of the newest visit at the edges of the wall. */
function drawNewest(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  theme: Theme,
  cells: Cells,
): void {
  const { n } = cells;
  const [row, col] = [n[Count.row]!, n[Count.col]!];
  if (row < 0 || n[Count.call] === 0 || n[Count.ended]! > 0) return;
  const { x, y, wide, high } = cellBox(layout, laid, row, Math.max(0, col));
  pen.fillStyle = theme.ink;
  const [across, down] = [Math.max(wide, 2), Math.max(high, 2)];
  pen.fillRect(laid.x - 5, y + high / 2 - down / 2, 3, down);
  if (col < 0) return;
  pen.fillRect(x + wide / 2 - across / 2, laid.y - 5, across, 3);
}

function drawRing(pen: Pen, layout: WallLayout, laid: LaidWall, mark: Mark, theme: Theme): void {
  const { row, col } = cellOf(mark);
  const { x, y, wide, high } = cellBox(layout, laid, row, col);
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 2;
  pen.strokeRect(x - 2, y - 2, wide + 3, high + 3);
}

function drawUnknown(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  theme: Theme,
  tiles: TileMaker,
): void {
  pen.fillStyle = tiles('fog', { ground: theme.paper, ink: theme.staff });
  pen.globalAlpha = 0.75;
  pen.fillRect(laid.x, laid.y, laid.wide, laid.high);
  pen.globalAlpha = 1;
  text(pen, theme, layout.fontSize, 500, theme.soft);
  pen.textAlign = 'center';
  pen.fillText(tr('not known yet'), laid.x + laid.wide / 2, laid.y + laid.high / 2);
}

/** Write three lines: the visits of the call, their outcome, and the bits that are set. */
function drawWords(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  { theme, lesson }: Drawing,
  wall: Wall,
  cells: Cells,
  t: number,
  unknown: boolean,
): void {
  const { words: at } = layout;
  const fontSize = Math.round(layout.fontSize * at.em);
  const line = Math.round(layout.line * at.em);
  const { n } = cells;
  const { lane } = wall.replay;
  let y = laid.top + at.y + fontSize;
  pen.textAlign = 'left';
  pen.textBaseline = 'alphabetic';
  const room = laid.left + laid.width - laid.x - at.dx;
  /** Write the first wording that fits; if none fits, the last wording. */
  const say = (all: string | readonly string[], size: number, weight: number, colour: string) => {
    text(pen, theme, size, weight, colour);
    const choices = typeof all === 'string' ? [all] : all;
    const fits = choices.find((words) => pen.measureText(words).width <= room);
    pen.fillText(fits ?? choices.at(-1)!, laid.x + at.dx, y);
    y += line;
  };
  if (unknown) return;
  if (wall.replay.length === 0) {
    say(tr('this lane has no events'), fontSize, 400, theme.soft);
    return;
  }
  if (n[Count.call] === 0) {
    say(tr('no {name} yet', { name: lesson.operation.name }), fontSize, 400, theme.soft);
    y += line;
  } else {
    const now = { lane, n };
    say(counted(now, 'visits', 'visit'), fontSize + 3, 650, theme.ink);
    say(
      [outcomeWords(now, t), tr('{vain} in vain', { vain: counted(now, 'vain') })],
      fontSize,
      400,
      theme.soft,
    );
  }
  if (lostIn(lane, n[Count.began]!, t)) {
    say(
      tr('✕ events lost in this call: these counts are lower bounds'),
      fontSize,
      600,
      theme.hazard,
    );
  } else {
    const bits = tr('{bits} set', { bits: counted({ lane, n }, 'bits', 'bit') });
    say([mapWords(wall, n), bits], fontSize, 400, theme.mechanism);
  }
}

function outcomeWords(now: CountsNow, t: number): string {
  const { n } = now;
  const passes = n[Count.pass]! > 1 ? tr(', pass {pass}', { pass: counted(now, 'pass') }) : '';
  return tr(
    '{vain} in vain · {call}{passes}, {state, select, over {over after} other {since}} {time}',
    {
      ...{ vain: counted(now, 'vain'), call: callName(now), passes, time: callTime(now, t) },
      state: n[Count.ended]! > 0 ? 'over' : 'runs',
    },
  );
}

function mapWords({ replay: { lane, readsMap } }: Wall, n: Float64Array): string {
  const bits = counted({ lane, n }, 'bits', 'bit');
  return readsMap ? tr('{bits} set', { bits }) : tr('{bits} set, nobody reads them', { bits });
}

// The wall for LaneCanvas. All methods are pure functions of (index, frame, size).

export function layoutOf(
  { index, lesson, size, show }: Drawing,
  headerHeight: number,
  fontSize: number,
): WallLayout {
  const arms = index.lanes.map((lane) => lane.arm);
  const clears = show?.includes('clearing') ?? false;
  return layoutWalls(arms, roomOf(index, lesson), size, headerHeight, fontSize, clears);
}

/** Return the areas that can be pointed at: the cells row by row, and the steps of a clearing. */
export function rowsOf(layout: WallLayout, drawing: Drawing): readonly Row[] {
  const { index, lesson, frame } = drawing;
  return layout.lanes.flatMap((laid): Row[] => {
    const { arm } = laid;
    const lane = laneOf(index, arm);
    if (lane === null) return [];
    const wall = wallOf(lane, lesson);
    const { memcgs, cols } = wall.replay.grid;
    const cells = memcgs.map((_, row): Row => {
      const { x, y, wide, high } = cellBox(layout, laid, row, 0);
      const area = { x, y, w: cols * wide, h: high };
      return cellRow({ arm, area, flows: 'lane' }, { x, pitch: wide, n: cols }, (col, box) => {
        const mark = markAt(index, lesson, frame, arm, row, col);
        const inner = markAt(index, lesson, frame, arm, row, col, true);
        if (mark === null || inner === null) return [];
        // The unread bit is selected in the middle of a cell: a box with half the width and height of the cell.
        const half = { x: box.x + wide / 4, y: y + high / 4, w: wide / 2, h: high / 2 };
        return [
          { mark, box },
          { mark: inner, box: half, rank: 1, pointerOnly: true },
        ];
      });
    });
    const { clearing } = layout;
    const one = clearing && shownClearing(wall, drawing);
    if (clearing === null || one === null) return cells;
    const box = {
      ...{ x: laid.x + clearing.dx, y: clearing.y },
      ...{ w: clearing.width, h: 6 * clearing.line },
    };
    const mark = clearingMark(index, wall, one);
    return [...cells, { arm, area: box, items: () => [{ mark, box, pointerOnly: true }] }];
  });
}

export const wallArtist: Artist<WallLayout> = {
  layout: layoutOf,
  draw: drawWalls,
  rows: rowsOf,
  boxes(layout, _drawing, mark) {
    const wall = layout.lanes.find((laid) => laid.arm === mark.arm);
    if (wall === undefined) return [];
    const { row, col } = cellOf(mark);
    const { x, y, wide, high } = cellBox(layout, wall, row, col);
    return [{ x, y, w: wide, h: high }];
  },
  first: (_layout, { index, lesson, frame }) => newestMark(index, lesson, frame),
  describe({ index, lesson, frame }, mark) {
    const lane = laneOf(index, mark.arm);
    return lane === null ? '' : describeCell(index, mark, lesson, heldTime(lane, frame));
  },
  label: t(
    'One wall per kernel: rows are memory cgroups, columns are shrinkers, and each cell is a possible visit',
  ),
};
