// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The wall as an image with a few pixels per cell. The image is kept between frames, and only changed cells are
 * redrawn.
 */

import type { Theme } from '@page/base/theme.ts';
import type { Frame } from '@page/derive/types.ts';
import { mix } from '@page/views/paints.ts';
import { type Cells, Count, rootRow, Seen, type Wall } from './wall.ts';

// Chooses the kind that a cell shows, and draws its pixels.

/** Kinds of the lesson that a cell can show. A cell's code contains the index of the kind in this list. */
export const faces = [
  'not_visited',
  'visit_vain',
  'visit_busy',
  'visit_freed',
  'visit_again',
  'bit_cleared',
  'bit',
  'bit_unread',
  'root_visit',
  'absent',
] as const;

export type Face = (typeof faces)[number];

const ofSeen: readonly Face[] = [
  'not_visited',
  'visit_vain',
  'visit_busy',
  'visit_freed',
  'visit_again',
  'bit_cleared',
];

/** Return all kinds that apply to a cell: the kind of its visit first, then the kind of its bit. */
export function facesOf(
  seen: number,
  bit: number,
  root: boolean,
  readsMap: boolean,
): readonly Face[] {
  const visit: Face[] = seen === Seen.none ? [] : [root ? 'root_visit' : ofSeen[seen]!];
  // No kernel reads the root's map.
  const map: Face[] = bit === 0 || root ? [] : [readsMap ? 'bit' : 'bit_unread'];
  const all = [...visit, ...map];
  return all.length > 0 ? all : ['not_visited'];
}

/**
 * Return the kind to show, which is also the kind that a pointer selects: the first kind in focus, or else the first
 * kind.
 */
export function faceOf(all: readonly Face[], focus: ReadonlySet<string>): Face {
  return all.find((face) => focus.has(face)) ?? all[0]!;
}

/** A cell's code is the face, plus 16 if an unread bit is drawn inside, plus 32 times the tone. */
export const dotFlag = 16;
export const toneStep = 32;
/** Tones: the current pass, an earlier pass of the call, then afterglow from faint to bright. */
export const Tone = { now: 0, earlier: 1, glow: 2 } as const;
export const glowLevels = 4;
const absentCode = faces.indexOf('absent');

/** Return the table of cell codes. Its index is a cell's `seen`, plus 8 if the cell's bit is set. */
function codeTable(root: boolean, readsMap: boolean, focus: ReadonlySet<string>): Uint8Array {
  const table = new Uint8Array(16);
  for (let i = 0; i < 16; i++) {
    const all = facesOf(i & 7, i >> 3, root, readsMap);
    const face = faceOf(all, readsMap ? focus : new Set());
    const dot = all.includes('bit_unread') && face !== 'bit_unread';
    table[i] = faces.indexOf(face) + (dot ? dotFlag : 0);
  }
  return table;
}

/** Convert #rrggbb to a pixel of ImageData. */
function pixel(hex: string): number {
  const n = Number.parseInt(hex.slice(1), 16);
  return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | ((n >> 16) & 255)) >>> 0;
}

const colourOf: Readonly<Record<Face, keyof Theme & string>> = {
  not_visited: 'staff',
  visit_vain: 'vain',
  visit_busy: 'work',
  visit_freed: 'gain',
  visit_again: 'mechanism',
  bit_cleared: 'mechanism',
  bit: 'mechanism',
  bit_unread: 'mechanism',
  root_visit: 'other',
  absent: 'paper',
};

/** Solid faces. Other faces are hollow, except `not_visited` and `bit_unread`, which are a faint background. */
const solid: ReadonlySet<Face> = new Set(['visit_busy', 'visit_freed', 'bit']);

/**
 * Share of the theme's colour in an edge; the rest is ink, because a thin edge in a light colour would be invisible.
 */
const inked: Readonly<Partial<Record<Face, number>>> = { visit_vain: 0.85, root_visit: 0.75 };

/** Draws the pixels of each code for one cell size and theme. */
export class Sprites {
  readonly wide: number;
  readonly high: number;
  readonly #theme: Theme;
  readonly #focus: ReadonlySet<string>;
  readonly #made = new Map<number, Uint32Array>();

  constructor(wide: number, high: number, theme: Theme, focus: ReadonlySet<string>) {
    this.wide = wide;
    this.high = high;
    this.#theme = theme;
    this.#focus = focus;
  }

  of(code: number): Uint32Array {
    let made = this.#made.get(code);
    if (made === undefined) {
      made = this.#make(code);
      this.#made.set(code, made);
    }
    return made;
  }

  #make(code: number): Uint32Array {
    const { wide, high } = this;
    const size = Math.min(wide, high);
    const theme = this.#theme;
    const face = faces[code & 15]!;
    const tone = code >> 5;
    const pixels = new Uint32Array(wide * high);
    if (face === 'absent') return pixels;
    const gap = size >= 12 ? 2 : size >= 4 ? 1 : 0;
    const inner = size - gap;
    /** Fill the cell except for a margin at the left and right. The margin above and below may differ. */
    const box = (colour: string, sides = 0, ends = sides) => {
      const value = pixel(colour);
      for (let y = ends; y < high - gap - ends; y++)
        pixels.fill(value, y * wide + sides, y * wide + wide - gap - sides);
    };
    const shares = (part: number) =>
      [wide, high].map((all) => Math.max(1, Math.floor((all - gap) * part))) as [number, number];
    const glow = tone >= Tone.glow ? (tone - Tone.glow + 1) / glowLevels : 0;
    const shade = (of: Face, strength: number) => {
      const muted = this.#focus.size > 0 && !this.#focus.has(of) && glow === 0 ? 0.45 : 1;
      // At half strength a thin edge would vanish, so a hollow face fades less.
      const old = tone !== Tone.earlier ? 1 : solid.has(of) ? 0.5 : 0.8;
      const colour = mix(theme[colourOf[of]], theme.ink, inked[of] ?? 1);
      return mix(mix(theme.ink, colour, glow * 0.7), theme.paper, strength * muted * old);
    };
    const ground = mix(theme.staff, theme.paper, 0.45);
    const dot = (code & dotFlag) !== 0 || face === 'bit_unread';
    if (face === 'not_visited' || face === 'bit_unread') box(ground);
    else if (solid.has(face)) {
      box(shade(face, 1));
      // A cell that freed something has a hole, so it differs from `visit_busy` in more than its colour.
      if (face === 'visit_freed' && inner >= 5) box(theme.paper, ...shares(1 / 3));
    } else if (inner >= 3) {
      const line = size >= 16 ? 2 : 1;
      box(shade(face, face === 'bit_cleared' ? 0.8 : 1));
      const inside = face === 'visit_again' || face === 'bit_cleared';
      const empty = tone === Tone.earlier ? ground : mix(theme.ink, theme.paper, glow * 0.45);
      box(inside ? shade(face, 0.35) : empty, line);
    } else box(shade(face, face === 'visit_vain' || face === 'root_visit' ? 0.6 : 0.5));
    if (dot) {
      // The bit is a square in the cell's middle. On tiny cells it colours the whole cell.
      const strength = this.#focus.has('bit_unread') ? 1 : 0.92;
      if (inner >= 4) box(shade('bit_unread', strength), ...shares(0.3));
      else if (face === 'bit_unread' || this.#focus.has('bit_unread')) {
        box(shade('bit_unread', strength * 0.8));
      }
    }
    return pixels;
  }
}

export interface Grid {
  /** Pixels of the image per cell, across and down. */
  readonly pitch: number;
  readonly tall: number;
  /** Number of rows without the root's row, which is drawn separately on top. */
  readonly rows: number;
  readonly cols: number;
  /** Pixels between the root's row and the others. */
  readonly rootGap: number;
}

export function gridSize({ pitch, tall, rows, cols, rootGap }: Grid) {
  return { width: cols * pitch, height: (rows + 1) * tall + rootGap };
}

/** Return the y of a row's top in the image. */
export function rowTop({ tall, rootGap }: Grid, row: number): number {
  return row === rootRow ? 0 : row * tall + rootGap;
}

/** How long the newest visits glow, as a share of the window, and the largest number of visits that glow. */
const glowShare = 0.035;
const mostGlowing = 3000;

export function glowNs(frame: Pick<Frame, 'span'>): number {
  return frame.span * glowShare;
}

type Look = Pick<Frame, 'focus' | 'span'>;

/**
 * Return the codes of all cells of a grid, row by row. Pure. `now` keeps running while the lane is held at the end of
 * its call, so that the afterglow fades.
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

/** Computes the codes of rows. */
class RowCoder {
  readonly #wall: Wall;
  readonly #grid: Grid;
  readonly #usual: Uint8Array;
  readonly #root: Uint8Array;
  /** Columns without a shrinker, according to visits. */
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

/** Brighten the newest visits according to their age, and return the rows that changed. */
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

/** The image of one lane's wall. Rows that did not change are not drawn again. */
export class WallImage {
  #key: readonly unknown[] = [];
  #coder: RowCoder | null = null;
  #codes = new Uint8Array(0);
  #next = new Uint8Array(0);
  #touched = new Float64Array(0);
  #lit: ReadonlySet<number> = new Set();
  #image: ImageData | null = null;
  #canvas: OffscreenCanvas | null = null;

  /** Return the image for this moment; null if there is no canvas, as in tests. */
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

  /** If the size, theme or pass has changed, mark all rows for redrawing. A new pass makes earlier visits paler. */
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

  /** Write the changed cells of a row. Return false if none changed. */
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
