// SPDX-License-Identifier: GPL-2.0-or-later
/** The wall as an image: a few pixels a cell, kept from frame to frame; only cells that changed are written. */

import type { Frame } from '../../derive/types.ts';
import { absentCode, codeTable, glowLevels, type Sprites, Tone, toneStep } from './faces.ts';
import { type Cells, Count, rootRow, Seen } from './tape.ts';
import type { Wall } from './wall.ts';

export interface Grid {
  /** Pixels of the image per cell. */
  readonly pitch: number;
  /** Rows without the root's, which stands apart on top. */
  readonly rows: number;
  readonly cols: number;
  /** Pixels between the root's row and the others. */
  readonly rootGap: number;
}

export function gridSize({ pitch, rows, cols, rootGap }: Grid) {
  return { width: cols * pitch, height: (rows + 1) * pitch + rootGap };
}

/** Top of a row in the image. */
export function rowTop({ pitch, rootGap }: Grid, row: number): number {
  return row === rootRow ? 0 : row * pitch + rootGap;
}

/** Newest visits glow for this share of the window, and never more than so many. */
const glowShare = 0.035;
const mostGlowing = 3000;

export function glowNs(frame: Pick<Frame, 'span'>): number {
  return frame.span * glowShare;
}

/**
 * Codes of all cells of a grid, row by row. Pure: wall, cells and moment say it all. `now` is the lane's time as if
 * it did not stand still, so that afterglow fades.
 */
export function codesOf(
  wall: Wall,
  cells: Cells,
  grid: Grid,
  frame: Pick<Frame, 'focus' | 'span'>,
  now: number,
  into: Uint8Array,
): Uint8Array {
  const { tape } = wall;
  const { rows, cols } = grid;
  const pass = cells.n[Count.pass]!;
  const usual = codeTable(false, tape.readsMap, frame.focus);
  const forRoot = codeTable(true, tape.readsMap, frame.focus);
  const holes = tape.ids.size > 0;
  for (let row = 0; row <= rows; row++) {
    const to = row * cols;
    if (row >= tape.memcgs.length || cells.born[row] === 0) {
      into.fill(absentCode, to, to + cols);
      continue;
    }
    const table = row === rootRow ? forRoot : usual;
    const from = row * tape.stride;
    for (let c = 0; c < cols; c++) {
      const cell = from + c;
      const seen = cells.seen[cell]!;
      const code = table[seen + (cells.bit[cell] === 0 ? 0 : 8)]!;
      const earlier = seen !== Seen.none && cells.pass[cell]! < pass;
      into[to + c] = earlier ? code + toneStep * Tone.earlier : code;
    }
    for (let c = tape.cols; c < cols; c++) into[to + c] = absentCode;
  }
  if (holes) blankHoles(tape.ids, grid, into);
  glow(wall, cells, grid, glowNs(frame), now, into);
  return into;
}

/** Ids that no shrinker has. */
function blankHoles(ids: ReadonlySet<number>, { rows, cols }: Grid, into: Uint8Array): void {
  if (ids.size >= cols) return;
  for (let c = 0; c < cols; c++) {
    if (ids.has(c)) continue;
    for (let row = 0; row <= rows; row++) into[row * cols + c] = absentCode;
  }
}

/** Brightens what was visited last, by how long ago. */
function glow(
  wall: Wall,
  cells: Cells,
  { rows, cols }: Grid,
  lasting: number,
  t: number,
  into: Uint8Array,
): void {
  const { tape } = wall;
  const { points } = tape.lane;
  const ended = cells.n[Count.ended]!;
  const from = Math.max(0, cells.at - mostGlowing);
  const lit = (row: number, a: number, b: number, level: number) => {
    if (row < 0 || row > rows) return;
    for (let c = a; c < b; c++) {
      const code = into[row * cols + c]!;
      if (code >> 5 >= Tone.glow || code === absentCode) continue;
      into[row * cols + c] = (code & 31) + toneStep * (Tone.glow + level);
    }
  };
  if (ended > 0 && t - ended > lasting) return;
  for (let i = cells.at - 1; i >= from; i--) {
    const ago = t - points.t[i]!;
    if (ago >= lasting) break;
    const role = tape.role(points.kind[i]!);
    if (role === 'call') break;
    const level = Math.min(glowLevels - 1, Math.floor((1 - ago / lasting) * glowLevels));
    const id = points.b[i]!;
    if ((role === 'visit' || role === 'cleared') && id >= 0 && id < cols) {
      lit(tape.rows[i]!, id, id + 1, level);
    } else if (role === 'outcome' && !tape.visitsTold && !tape.readsMap) {
      lit(tape.rows[i]!, 0, Math.min(cols, tape.cols), level);
    }
  }
}

/** The image of one lane's wall. */
export class WallImage {
  #codes = new Uint8Array(0);
  #next = new Uint8Array(0);
  #image: ImageData | null = null;
  #canvas: OffscreenCanvas | null = null;
  #sprites: Sprites | null = null;

  /** The image for this moment; null where there is no canvas (tests). */
  paint(
    wall: Wall,
    cells: Cells,
    grid: Grid,
    frame: Pick<Frame, 'focus' | 'span'>,
    now: number,
    sprites: Sprites,
  ): OffscreenCanvas | null {
    if (typeof OffscreenCanvas === 'undefined') return null;
    const { width, height } = gridSize(grid);
    const count = (grid.rows + 1) * grid.cols;
    const anew =
      this.#sprites !== sprites ||
      this.#image?.width !== width ||
      this.#image.height !== height ||
      this.#codes.length !== count;
    if (anew) {
      this.#sprites = sprites;
      this.#image = new ImageData(Math.max(1, width), Math.max(1, height));
      this.#canvas = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
      this.#codes = new Uint8Array(count).fill(255);
      this.#next = new Uint8Array(count);
    }
    codesOf(wall, cells, grid, frame, now, this.#next);
    if (this.#write(grid, sprites)) {
      this.#canvas?.getContext('2d')?.putImageData(this.#image!, 0, 0);
    }
    return this.#canvas;
  }

  /** Writes the cells that changed; false: none did. */
  #write(grid: Grid, sprites: Sprites): boolean {
    const { pitch, cols } = grid;
    const { width } = this.#image!;
    const pixels = new Uint32Array(this.#image!.data.buffer);
    let changed = false;
    for (let i = 0; i < this.#next.length; i++) {
      const code = this.#next[i]!;
      if (code === this.#codes[i]) continue;
      changed = true;
      this.#codes[i] = code;
      const sprite = sprites.of(code);
      const row = Math.floor(i / cols);
      let at = rowTop(grid, row) * width + (i - row * cols) * pitch;
      if (pitch === 1) {
        pixels[at] = sprite[0]!;
        continue;
      }
      for (let y = 0; y < pitch; y++, at += width) {
        for (let x = 0; x < pitch; x++) pixels[at + x] = sprite[y * pitch + x]!;
      }
    }
    return changed;
  }
}
