// SPDX-License-Identifier: GPL-2.0-or-later
/** How each kind of mark is painted, in the picture and in its legend. */

import type { Theme } from '@page/base/theme.ts';
import type { Kind, Lesson, Scene } from '@page/protocol/lesson.ts';
import { type Fill, mix, type Pen, type TileMaker } from '@page/views/paints.ts';

export interface Look {
  readonly wide: Fill;
  readonly narrow: string;
  readonly border: string | null;
  /** Colour of words that are written on the mark. */
  readonly ink: string;
}

export interface Easel {
  readonly theme: Theme;
  readonly tiles: TileMaker;
  readonly em: number;
  /** Names of the kinds in focus; other kinds are paler. If empty, all kinds are in focus. */
  readonly focus: ReadonlySet<string>;
  /** Calls that write words after the playhead. They run late, so that the veil does not cover the words. */
  readonly late?: (() => void)[];
}

export function lookOf(kind: string, theme: Theme, tiles: TileMaker): Look {
  const { paper, ink } = theme;
  const hatched = (
    colour: string,
    ground: number,
    tile: 'slash' | 'backslash' | 'stripes',
  ): Look => ({
    wide: tiles(tile, { ground: mix(colour, paper, ground), ink: mix(colour, paper, 0.9) }),
    narrow: colour,
    border: colour,
    ink,
  });
  const flat = (wide: string, border: string | null, words = ink): Look => ({
    wide,
    narrow: wide,
    border,
    ink: words,
  });
  switch (kind) {
    case 'alive':
      return flat(theme.work, null, paper);
    case 'running':
      return {
        wide: tiles('dots', { ground: mix(theme.work, paper, 0.5), ink: theme.work }),
        narrow: theme.work,
        border: theme.work,
        ink: paper,
      };
    case 'batch':
      return {
        wide: tiles('stripes', { ground: mix(theme.work, paper, 0.4), ink: theme.work }),
        narrow: theme.work,
        border: theme.work,
        ink: paper,
      };
    case 'runnable':
      return flat(mix(theme.work, paper, 0.62), null);
    case 'queued':
      return flat(mix(theme.work, paper, 0.26), mix(theme.work, paper, 0.7));
    case 'free':
      return flat(paper, mix(theme.work, paper, 0.64));
    case 'wait_gp':
      return hatched(theme.wait, 0.16, 'slash');
    case 'wait_backlog':
      return hatched(theme.wait, 0.34, 'backslash');
    case 'worker_wait':
      return hatched(theme.wait, 0.1, 'stripes');
    case 'shadow':
      return {
        wide: tiles('slash', {
          ground: mix(theme.mechanism, paper, 0.1),
          ink: mix(theme.mechanism, paper, 0.42),
        }),
        narrow: mix(theme.mechanism, paper, 0.3),
        border: mix(theme.mechanism, paper, 0.8),
        ink,
      };
    case 'walker':
      return flat(paper, theme.soft);
    case 'early':
      return hatched(theme.hazard, 0.2, 'backslash');
    case 'reuse':
      return flat(theme.gain, null, paper);
    case 'listed':
      return flat(mix(theme.work, paper, 0.88), null);
    case 'taken':
      return flat(mix(theme.work, paper, 0.6), null);
    case 'gp':
      return flat(mix(theme.mechanism, paper, 0.26), mix(theme.mechanism, paper, 0.8));
    case 'may_read':
      return flat(theme.mechanism, null, paper);
    case 'rcu':
      return {
        wide: tiles('dots', {
          ground: mix(theme.mechanism, paper, 0.14),
          ink: mix(theme.mechanism, paper, 0.8),
        }),
        narrow: mix(theme.mechanism, paper, 0.5),
        border: mix(theme.mechanism, paper, 0.5),
        ink,
      };
    default:
      return {
        wide: tiles('dots', {
          ground: mix(theme.vain, paper, 0.06),
          ink: mix(theme.vain, paper, 0.75),
        }),
        narrow: mix(theme.vain, paper, 0.4),
        border: mix(theme.vain, paper, 0.6),
        ink,
      };
  }
}

const textured = 6;

/** Draw a bar in the look of a kind. A narrow bar is plain, not hatched. */
export function bar(
  pen: Pen,
  look: Look,
  x0: number,
  y: number,
  x1: number,
  h: number,
  corner = 2,
): void {
  const w = x1 - x0;
  if (w < textured) {
    pen.fillStyle = look.border ?? look.narrow;
    pen.fillRect(x0, y, Math.max(1, w), h);
    return;
  }
  const inset = look.border === null ? 0 : 0.5;
  pen.beginPath();
  pen.roundRect(x0 + inset, y + inset, w - 2 * inset, h - 2 * inset, Math.min(corner, h / 3));
  pen.fillStyle = look.wide;
  pen.fill();
  if (look.border === null) return;
  pen.strokeStyle = look.border;
  pen.lineWidth = 1;
  pen.stroke();
}

/** Draw a cross, the sign for an event that must not happen. */
export function cross(pen: Pen, x: number, y: number, r: number, colour: string, width = 2): void {
  pen.beginPath();
  pen.moveTo(x - r, y - r);
  pen.lineTo(x + r, y + r);
  pen.moveTo(x + r, y - r);
  pen.lineTo(x - r, y + r);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.lineCap = 'butt';
  pen.stroke();
}

export type Align = 'left' | 'right' | 'center';

export function fontOf(easel: Easel, weight = 400, px = 13, family = easel.theme.font): string {
  return `${weight} ${px * easel.em}px ${family}`;
}

export function say(
  pen: Pen,
  easel: Easel,
  words: string,
  x: number,
  y: number,
  align: Align,
  colour: string,
  weight = 400,
): void {
  pen.font = fontOf(easel, weight);
  pen.textAlign = align;
  pen.textBaseline = 'middle';
  pen.fillStyle = colour;
  pen.fillText(words, x, y);
}

export function widthOf(pen: Pen, easel: Easel, words: string, weight = 400): number {
  pen.font = fontOf(easel, weight);
  return pen.measureText(words).width;
}

/** Write words on a plate of the paper's colour, so that no texture is visible behind the words. */
export function sayOn(
  pen: Pen,
  easel: Easel,
  words: string,
  x: number,
  y: number,
  align: Align,
  colour: string,
  weight = 400,
): void {
  const w = widthOf(pen, easel, words, weight) + 10;
  const left = align === 'left' ? x - 5 : align === 'right' ? x - w + 5 : x - w / 2;
  pen.fillStyle = easel.theme.paper;
  pen.beginPath();
  pen.roundRect(left, y - 8 * easel.em, w, 16 * easel.em, 4);
  pen.fill();
  say(pen, easel, words, x, y + 0.5, align, colour, weight);
}

// The legend: a swatch for each kind that the bands of a step can show. Pure.

/** The kinds of marks that each part of a picture draws. */
const bands: Readonly<Record<string, readonly string[]>> = {
  inode: ['alive', 'queued', 'free', 'shadow', 'early', 'reuse'],
  inodes: ['alive', 'queued', 'shadow', 'early'],
  flow: ['alive', 'listed', 'taken', 'shadow', 'early'],
  queue: ['listed', 'taken', 'batch', 'worker_wait'],
  worker: ['batch', 'worker_wait'],
  ticks: ['tick_ended', 'tick'],
  walker: ['walker'],
};

/** The kinds of marks for a reuse. The legend omits them if the workload only removes files. */
const again: ReadonlySet<string> = new Set(['early', 'reuse']);

/** Tell whether a step shows the time of possible readers. A step that shows no inodes shows no readers. */
export function showsReaders(show: readonly string[] | undefined): boolean {
  return show === undefined || show.includes('inode') || show.includes('inodes');
}

/**
 * Return the kinds in the legend of a step. `there` contains the kinds that occur in the run. While `there` is null,
 * the kinds in the step's focus are used instead.
 */
export function legend(
  lesson: Pick<Lesson, 'kinds'>,
  { focus, show, workload, arms }: Pick<Scene, 'focus' | 'show' | 'workload' | 'arms'>,
  there: ReadonlySet<string> | null,
): readonly Kind[] {
  const parts = new Set(show.flatMap((part) => bands[part] ?? []));
  if (show.includes('queue') && arms.includes('call-rcu')) parts.add('rcu');
  return lesson.kinds.filter(({ name, layer }) => {
    if (layer === 'function') return false;
    if (layer === 'mark') return parts.has(name) && !(workload === 'removal' && again.has(name));
    if (name === 'may_read' && !showsReaders(show)) return false;
    return there?.has(name) ?? (focus.includes(name) || layer === 'track');
  });
}
