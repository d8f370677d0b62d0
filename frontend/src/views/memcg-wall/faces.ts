// SPDX-License-Identifier: GPL-2.0-or-later
/** What a cell shows, and how that looks as pixels. */

import type { Theme } from '../../base/theme.ts';
import { mix } from '../paints.ts';
import { Seen } from './cells.ts';

/** Kinds of the lesson that a cell can be. Their place here is their number in a code. */
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

/** Everything that a cell is, what happened to it first. */
export function facesOf(
  seen: number,
  bit: number,
  root: boolean,
  readsMap: boolean,
): readonly Face[] {
  const visit: Face[] = seen === Seen.none ? [] : [root ? 'root_visit' : ofSeen[seen]!];
  // Nobody reads the root's map, on any kernel.
  const map: Face[] = bit === 0 || root ? [] : [readsMap ? 'bit' : 'bit_unread'];
  const all = [...visit, ...map];
  return all.length > 0 ? all : ['not_visited'];
}

/** The one to show and to point at: the first in focus, else the first. */
export function faceOf(all: readonly Face[], focus: ReadonlySet<string>): Face {
  return all.find((face) => focus.has(face)) ?? all[0]!;
}

/** code = face + 16 if an unread bit shows within + 32 * tone. */
export const dotFlag = 16;
export const toneStep = 32;
/** Tones: now, an earlier pass of the call, then afterglow from faint to bright. */
export const Tone = { now: 0, earlier: 1, glow: 2 } as const;
export const glowLevels = 4;
export const absentCode = faces.indexOf('absent');

/** Codes of cells by seen + 8 * (bit is set). */
export function codeTable(
  root: boolean,
  readsMap: boolean,
  focus: ReadonlySet<string>,
): Uint8Array {
  const table = new Uint8Array(16);
  for (let i = 0; i < 16; i++) {
    const all = facesOf(i & 7, i >> 3, root, readsMap);
    const face = faceOf(all, readsMap ? focus : new Set());
    const dot = all.includes('bit_unread') && face !== 'bit_unread';
    table[i] = faces.indexOf(face) + (dot ? dotFlag : 0);
  }
  return table;
}

/** #rrggbb as a pixel of ImageData. */
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

/** Solid faces; the others are hollow, and `not_visited` is a breath of ground. */
const solid: ReadonlySet<Face> = new Set(['visit_busy', 'visit_freed', 'bit']);

/** Of the theme's colour, the rest its ink: thin edges of a light colour are not seen on a wall. */
const inked: Readonly<Partial<Record<Face, number>>> = { visit_vain: 0.85, root_visit: 0.75 };

/** Makes the pixels of codes for one size of cell and one look. */
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
    /** All of the cell but so many pixels at each side and, if not as many, above and below. */
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
      // A thin edge would be gone at half its strength: what is hollow has a filled inside as well then.
      const old = tone !== Tone.earlier ? 1 : solid.has(of) ? 0.5 : 0.8;
      const colour = mix(theme[colourOf[of]], theme.ink, inked[of] ?? 1);
      return mix(mix(theme.ink, colour, glow * 0.7), theme.paper, strength * muted * old);
    };
    const ground = mix(theme.staff, theme.paper, 0.45);
    const dot = (code & dotFlag) !== 0 || face === 'bit_unread';
    if (face === 'not_visited' || face === 'bit_unread') box(ground);
    else if (solid.has(face)) {
      box(shade(face, 1));
      // Freed has a hole, so that it differs from work without its colour.
      if (face === 'visit_freed' && inner >= 5) box(theme.paper, ...shares(1 / 3));
    } else if (inner >= 3) {
      const line = size >= 16 ? 2 : 1;
      box(shade(face, face === 'bit_cleared' ? 0.8 : 1));
      const inside = face === 'visit_again' || face === 'bit_cleared';
      const empty = tone === Tone.earlier ? ground : mix(theme.ink, theme.paper, glow * 0.45);
      box(inside ? shade(face, 0.35) : empty, line);
    } else box(shade(face, face === 'visit_vain' || face === 'root_visit' ? 0.6 : 0.5));
    if (dot) {
      // A bit in the middle of what the walk did; on tiny cells it colours the whole.
      const strength = this.#focus.has('bit_unread') ? 1 : 0.92;
      if (inner >= 4) box(shade('bit_unread', strength), ...shares(0.3));
      else if (face === 'bit_unread' || this.#focus.has('bit_unread')) {
        box(shade('bit_unread', strength * 0.8));
      }
    }
    return pixels;
  }
}
