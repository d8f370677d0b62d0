// SPDX-License-Identifier: GPL-2.0-or-later
/** Draws the walls: image, axes, the newest visit, and what has been counted so far beneath. */

import { t as tr } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { formatCount } from '../../base/units.ts';
import { heldTime, laneTime } from '../../derive/align.ts';
import { figure } from '../../derive/figures.ts';
import { lostIn } from '../../derive/query.ts';
import type { Mark } from '../../derive/types.ts';
import type { Drawing } from '../contract.ts';
import type { Pen, TileMaker } from '../paints.ts';
import { type Cells, Count } from './cells.ts';
import { drawClearing } from './draw-clearing.ts';
import { Sprites } from './faces.ts';
import { type CountsNow, callName, callTime, counted } from './figures.ts';
import { cellBox, type LaidWall, type WallLayout } from './layout.ts';
import { cellOf } from './marks.ts';
import { type Grid, gridSize, rowTop, WallImage } from './paint.ts';
import { drawSpoken } from './spoken.ts';
import { type Wall, wallOf } from './wall.ts';

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

/** Ids along the top, with the edges of the maps' words; memcgs along the side. */
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
    // Each word of the maps has 64 bits: where one ends, all maps had to grow.
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

/** Ticks at the edges where the walk stands, and a ring around the cell. */
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

/** Three lines: what the call did, what came of it, what the maps say. */
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
  /** The first words that fit, else the last. */
  const say = (all: string | readonly string[], size: number, weight: number, colour: string) => {
    text(pen, theme, size, weight, colour);
    const choices = typeof all === 'string' ? [all] : all;
    const fits = choices.find((words) => pen.measureText(words).width <= room);
    pen.fillText(fits ?? choices.at(-1)!, laid.x + at.dx, y);
    y += line;
  };
  if (unknown) return;
  if (wall.replay.length === 0) {
    say(tr('no events of this lane are here'), fontSize, 400, theme.soft);
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
    say(tr('✕ events lost in this call: these are lower bounds'), fontSize, 600, theme.hazard);
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
