// SPDX-License-Identifier: GPL-2.0-or-later
/** A cell as the wall has it, large enough to see. */

import { useEffect, useRef } from 'react';
import type { Theme } from '../../base/theme.ts';
import type { SwatchProps } from '../contract.ts';
import { type Face, faces, glowLevels, Sprites, Tone, toneStep } from './faces.ts';

/** Tones of a visit in vain, side by side, for kinds that are no face of their own. */
const tonesOf: Readonly<Record<string, readonly number[]>> = {
  visit_new: [Tone.glow, Tone.glow + glowLevels - 1],
  visit_before: [Tone.earlier],
};

/** The cells of a swatch, each `wide` pixels of `size`; none for a kind that no cell shows. */
export function cellsOf(
  kind: string,
  size: number,
  theme: Theme,
): { readonly wide: number; readonly cells: readonly Uint32Array[] } {
  const face = faces.indexOf(kind as Face);
  const vain = faces.indexOf('visit_vain');
  const codes = tonesOf[kind]?.map((tone) => vain + toneStep * tone) ?? (face < 0 ? [] : [face]);
  const wide = Math.floor(size / Math.max(1, codes.length));
  const sprites = new Sprites(wide, size, theme, new Set());
  return { wide, cells: codes.map((code) => sprites.of(code)) };
}

export function CellSwatch({ kind, theme, width = 15, height = 15 }: SwatchProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = Math.round(width * dpr);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const { wide, cells } = cellsOf(kind, size, theme);
    if (cells.length === 0) {
      context.fillStyle = theme.work;
      context.fillRect(0, 0, size, size);
    }
    for (const [i, pixels] of cells.entries()) {
      const image = new ImageData(wide, size);
      new Uint32Array(image.data.buffer).set(pixels);
      context.putImageData(image, i * wide, 0);
    }
  }, [kind, theme, size]);
  return (
    <canvas
      ref={canvas}
      className="kind-swatch"
      width={size}
      height={size}
      style={{ width, height }}
    />
  );
}
