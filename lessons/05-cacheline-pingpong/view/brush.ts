// SPDX-License-Identifier: GPL-2.0-or-later
/** Brushes for bytes, copies and accesses. A dashed edge means modelled. No two kinds differ only by colour. */

import type { Theme } from '@page/base/theme.ts';
import type { Box } from '@page/views/contract.ts';
import { type Fill, mix, type Pen, type TileMaker } from '@page/views/paints.ts';
import type { ByteKind } from './fields.ts';

export interface Brush {
  readonly fill: Fill;
  readonly edge: string;
  /** Colour of letters on this brush's fill. */
  readonly ink: string;
  /** Brush for an access to these bytes. */
  readonly strong: string;
}

/** The letter that the protocol uses for a copy's state. */
export type StateName = 'M' | 'E' | 'S' | 'I';

export interface Brushes {
  readonly theme: Theme;
  readonly bytes: Readonly<Record<ByteKind, Brush>>;
  readonly states: Readonly<Record<StateName, Brush>>;
  /** Brush for an unknown state of a lane, and for an interval without samples. */
  readonly fog: Fill;
  readonly slow: Fill;
  /** Brushes for the ways in which a line gets to a CPU. */
  readonly ways: Readonly<Record<'transfer' | 'fetch' | 'upgrade', string>>;
}

const made = new WeakMap<TileMaker, Map<Theme, Brushes>>();

export function brushesFor(theme: Theme, tiles: TileMaker): Brushes {
  const themes = made.get(tiles) ?? new Map<Theme, Brushes>();
  made.set(tiles, themes);
  let brushes = themes.get(theme);
  if (brushes === undefined) {
    brushes = make(theme, tiles);
    themes.set(theme, brushes);
  }
  return brushes;
}

function make(theme: Theme, tiles: TileMaker): Brushes {
  const { paper, ink, work, mechanism, other, soft, faint, idle, vain, wait } = theme;
  // The page's beige, made darker than the background of the page.
  const edge = mix(other, ink, 0.75);
  const flat = (colour: string, share: number): Brush => ({
    fill: mix(colour, paper, share),
    edge: mix(colour, paper, 0.75),
    ink,
    strong: colour,
  });
  // Letters are drawn over the stripes, so the dark theme with its light letters needs darker stripes.
  const stripe = mix(wait, paper, theme.name === 'dark' ? 0.5 : 0.62);
  const sharedName = { ground: mix(work, paper, 0.2), ink: stripe };
  return {
    theme,
    bytes: {
      name: flat(work, 0.2),
      // The part of the name in the count's line: the name's colour, with stripes in the colour of waiting.
      name_shared: { ...flat(work, 0.2), fill: tiles('backslash', sharedName), edge: wait },
      count: { ...flat(mechanism, 0.3), edge: mechanism },
      chain: {
        ...flat(other, 0.2),
        fill: tiles('dots', { ground: mix(other, paper, 0.16), ink: mix(other, paper, 0.6) }),
        edge,
        strong: mix(other, ink, 0.55),
      },
      plain: { fill: paper, edge: vain, ink: faint, strong: soft },
    },
    states: {
      M: { fill: mix(mechanism, paper, 0.3), edge: mechanism, ink, strong: mechanism },
      E: { fill: mix(work, paper, 0.34), edge: work, ink, strong: work },
      S: {
        fill: tiles('dots', { ground: mix(work, paper, 0.1), ink: mix(work, paper, 0.35) }),
        edge: mix(work, paper, 0.65),
        ink,
        strong: work,
      },
      I: { fill: paper, edge: vain, ink: faint, strong: theme.hazard },
    },
    fog: tiles('fog', { ground: paper, ink: mix(idle, paper, 0.7) }),
    slow: tiles('slash', { ground: mix(wait, paper, 0.22), ink: wait }),
    ways: { transfer: wait, fetch: edge, upgrade: theme.hazard },
  };
}

/** Draw a rectangle with a dashed edge, which marks modelled data. */
export function dashedBox(
  pen: Pen,
  { x, y, w, h }: Box,
  edge: string,
  width = 1.5,
  dash: readonly number[] = [4, 3],
): void {
  pen.strokeStyle = edge;
  pen.lineWidth = width;
  pen.setLineDash([...dash]);
  pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  pen.setLineDash([]);
}

/** Draw accessed bytes: a ring for a read, a fill for a write, a fill with a bar across for a read-modify-write. */
export function brushAccess(
  pen: Pen,
  box: Box,
  kind: number,
  colour: string,
  ground: string,
): void {
  const { x, y, w, h } = box;
  if (kind === 0) {
    const line = Math.min(2.5, h / 4, w / 3);
    pen.strokeStyle = colour;
    pen.lineWidth = Math.max(1, line);
    pen.strokeRect(x + line / 2, y + line / 2, Math.max(0.5, w - line), h - line);
    return;
  }
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
  if (kind !== 2 || h < 6) return;
  pen.fillStyle = ground;
  const bar = Math.max(1, Math.round(h * 0.14));
  pen.fillRect(x + Math.min(2, w * 0.2), y + h - 2 * bar - 1, w - 2 * Math.min(2, w * 0.2), bar);
}

/** Draw a cross over a copy that was lost. */
export function brushCross(pen: Pen, { x, y, w, h }: Box, colour: string): void {
  const arm = Math.max(2.5, Math.min(w, h) / 2 - 3);
  const [cx, cy] = [x + w / 2, y + h / 2];
  pen.strokeStyle = colour;
  pen.lineWidth = Math.min(2.5, Math.max(1.2, arm / 4));
  pen.beginPath();
  pen.moveTo(cx - arm, cy - arm);
  pen.lineTo(cx + arm, cy + arm);
  pen.moveTo(cx + arm, cy - arm);
  pen.lineTo(cx - arm, cy + arm);
  pen.stroke();
}
