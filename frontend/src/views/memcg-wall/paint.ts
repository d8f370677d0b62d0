// SPDX-License-Identifier: GPL-2.0-or-later
/** The wall as an image: a few pixels a cell, kept from frame to frame; only cells that changed are written. */

import type { Frame } from '../../derive/types.ts';
import { type Cells, Count, rootRow, Seen } from './cells.ts';
import { absentCode, codeTable, glowLevels, type Sprites, Tone, toneStep } from './faces.ts';
import type { Wall } from './wall.ts';

export interface Grid {
  /** Pixels of the image per cell, across and down. */
  readonly pitch: number;
  readonly tall: number;
  /** Rows without the root's, which stands apart on top. */
  readonly rows: number;
  readonly cols: number;
  /** Pixels between the root's row and the others. */
  readonly rootGap: number;
}

export function gridSize({ pitch, tall, rows, cols, rootGap }: Grid) {
  return { width: cols * pitch, height: (rows + 1) * tall + rootGap };
}

/** Top of a row in the image. */
export function rowTop({ tall, rootGap }: Grid, row: number): number {
  return row === rootRow ? 0 : row * tall + rootGap;
}

/** Newest visits glow for this share of the window, and never more than so many. */
const glowShare = 0.035;
const mostGlowing = 3000;

export function glowNs(frame: Pick<Frame, 'span'>): number {
  return frame.span * glowShare;
}

type Look = Pick<Frame, 'focus' | 'span'>;

/**
 * Codes of all cells of a grid, row by row. Pure: wall, cells and moment say it all. `now` is the lane's time as if
 * it did not stand still, so that afterglow fades.
 */
export function codesOf(
  wall: Wall,
  cells: Cells,
  grid: Grid,
  look: Look,
  now: number,
  into: Uint8Array,
): Uint8Array {
  const coder = new RowCoder(wall, grid, look.focus);
  for (let row = 0; row <= grid.rows; row++) coder.code(cells, row, into);
  glow(wall, cells, grid, glowNs(look), now, into);
  return into;
}

/** Codes of one row after the other. */
class RowCoder {
  readonly #wall: Wall;
  readonly #grid: Grid;
  readonly #usual: Uint8Array;
  readonly #root: Uint8Array;
  /** Columns without a shrinker, as far as visits tell which have one. */
  readonly #holes: readonly number[];

  constructor(wall: Wall, grid: Grid, focus: ReadonlySet<string>) {
    const { readsMap, ids } = wall.replay;
    this.#wall = wall;
    this.#grid = grid;
    this.#usual = codeTable(false, readsMap, focus);
    this.#root = codeTable(true, readsMap, focus);
    const all = Array.from({ length: grid.cols }, (_, c) => c);
    this.#holes = ids.size === 0 ? [] : all.filter((c) => !ids.has(c));
  }

  code(cells: Cells, row: number, into: Uint8Array): void {
    const { replay } = this.#wall;
    const { cols } = this.#grid;
    const to = row * cols;
    if (row >= replay.grid.memcgs.length || cells.born[row] === 0) {
      into.fill(absentCode, to, to + cols);
      return;
    }
    const table = row === rootRow ? this.#root : this.#usual;
    const from = row * replay.grid.stride;
    const known = Math.min(cols, replay.grid.cols);
    const pass = cells.n[Count.pass]!;
    for (let c = 0; c < known; c++) {
      const cell = from + c;
      const seen = cells.seen[cell]!;
      const code = table[seen + (cells.bit[cell] === 0 ? 0 : 8)]!;
      const earlier = seen !== Seen.none && cells.pass[cell]! < pass;
      into[to + c] = earlier ? code + toneStep * Tone.earlier : code;
    }
    into.fill(absentCode, to + known, to + cols);
    for (const c of this.#holes) into[to + c] = absentCode;
  }
}

/** Brightens what was visited last, by how long ago. Tells which rows it lit. */
function glow(
  wall: Wall,
  cells: Cells,
  { rows, cols }: Grid,
  lasting: number,
  now: number,
  into: Uint8Array,
): ReadonlySet<number> {
  const { replay } = wall;
  const { points } = replay.lane;
  const ended = cells.n[Count.ended]!;
  const litRows = new Set<number>();
  if (ended > 0 && now - ended > lasting) return litRows;
  const from = Math.max(0, cells.at - mostGlowing);
  const lit = (row: number, a: number, b: number, level: number) => {
    if (row < 0 || row > rows) return;
    litRows.add(row);
    for (let c = a; c < b; c++) {
      const code = into[row * cols + c]!;
      if (code >> 5 >= Tone.glow || code === absentCode) continue;
      into[row * cols + c] = (code & 31) + toneStep * (Tone.glow + level);
    }
  };
  for (let i = cells.at - 1; i >= from; i--) {
    const ago = now - points.t[i]!;
    if (ago >= lasting) break;
    const role = replay.role(points.kind[i]!);
    if (role === 'call') break;
    const level = Math.min(glowLevels - 1, Math.floor((1 - ago / lasting) * glowLevels));
    const id = points.b[i]!;
    if ((role === 'visit' || role === 'cleared') && id >= 0 && id < cols) {
      lit(replay.rows[i]!, id, id + 1, level);
    } else if (role === 'outcome' && !replay.visitsReplayed && !replay.readsMap) {
      lit(replay.rows[i]!, 0, Math.min(cols, replay.grid.cols), level);
    }
  }
  return litRows;
}

/** The image of one lane's wall. Rows that did not change since the last picture cost nothing. */
export class WallImage {
  #key: readonly unknown[] = [];
  #coder: RowCoder | null = null;
  #codes = new Uint8Array(0);
  #next = new Uint8Array(0);
  #touched = new Float64Array(0);
  #lit: ReadonlySet<number> = new Set();
  #image: ImageData | null = null;
  #canvas: OffscreenCanvas | null = null;

  /** The image for this moment; null where there is no canvas (tests). */
  paint(
    wall: Wall,
    cells: Cells,
    grid: Grid,
    look: Look,
    now: number,
    sprites: Sprites,
  ): OffscreenCanvas | null {
    if (typeof OffscreenCanvas === 'undefined') return null;
    this.#fit(wall, grid, look, sprites, cells.n[Count.pass]!);
    const todo = new Set(this.#lit);
    for (let row = 0; row <= grid.rows; row++) {
      const touched = row < cells.touched.length ? cells.touched[row]! + cells.born[row]! : 0;
      if (this.#touched[row] !== touched) todo.add(row);
      this.#touched[row] = touched;
    }
    for (const row of todo) this.#coder!.code(cells, row, this.#next);
    this.#lit = glow(wall, cells, grid, glowNs(look), now, this.#next);
    let changed = false;
    for (const row of new Set([...todo, ...this.#lit])) {
      changed = this.#write(grid, sprites, row) || changed;
    }
    if (changed) this.#canvas?.getContext('2d')?.putImageData(this.#image!, 0, 0);
    return this.#canvas;
  }

  /** Another size or look, or another pass, which pales all that was seen: all rows anew. */
  #fit(wall: Wall, grid: Grid, look: Look, sprites: Sprites, pass: number): void {
    const { width, height } = gridSize(grid);
    const { replay } = wall;
    const fitted = [
      replay,
      replay.grid.cols,
      replay.ids.size,
      sprites,
      look.focus,
      width,
      height,
      grid.cols,
    ];
    const key = [...fitted, pass];
    const same = (n: number) =>
      this.#key.length === key.length && key.slice(0, n).every((x, i) => x === this.#key[i]);
    if (same(key.length)) return;
    const paintAll = !same(fitted.length);
    this.#key = key;
    this.#touched = new Float64Array(grid.rows + 1).fill(-1);
    if (!paintAll) return;
    const count = (grid.rows + 1) * grid.cols;
    this.#coder = new RowCoder(wall, grid, look.focus);
    this.#image = new ImageData(Math.max(1, width), Math.max(1, height));
    this.#canvas = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
    this.#codes = new Uint8Array(count).fill(255);
    this.#next = new Uint8Array(count);
    this.#lit = new Set();
  }

  /** Writes the cells of a row that changed; false: none did. */
  #write(grid: Grid, sprites: Sprites, row: number): boolean {
    const { pitch, tall, cols } = grid;
    const { width } = this.#image!;
    const pixels = new Uint32Array(this.#image!.data.buffer);
    const top = rowTop(grid, row) * width;
    let changed = false;
    for (let c = 0, i = row * cols; c < cols; c++, i++) {
      const code = this.#next[i]!;
      if (code === this.#codes[i]) continue;
      changed = true;
      this.#codes[i] = code;
      const sprite = sprites.of(code);
      let at = top + c * pitch;
      for (let y = 0; y < tall; y++, at += width) {
        for (let x = 0; x < pitch; x++) pixels[at + x] = sprite[y * pitch + x]!;
      }
    }
    return changed;
  }
}
