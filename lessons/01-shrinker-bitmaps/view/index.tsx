// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The view of lesson 01: one wall per kernel, with a row per memcg and a column per shrinker. Each cell is a possible
 * visit.
 */

import { t } from '@page/base/lang/t.ts';
import type { Theme } from '@page/base/theme.ts';
import type { Kind, Lesson, Scene } from '@page/protocol/lesson.ts';
import type { SwatchProps, ViewKind } from '@page/views/contract.ts';
import { useEffect, useRef } from 'react';
import { about } from './about.ts';
import { CostPanel } from './cost-panel.tsx';
import { wallArtist } from './draw.ts';
import { behindCell, touched } from './marks.ts';
import { type Face, faces, glowLevels, Sprites, Tone, toneStep } from './paint.ts';
import { arrival } from './toy.ts';
import { wallOf } from './wall.ts';
import { answers, counts, sentences, summary, table } from './words.ts';

// Draws the legend's swatches: cells as on the wall, but enlarged.

/** Kinds that have no face of their own. Their swatch shows these tones of a visit in vain side by side. */
const tonesOf: Readonly<Record<string, readonly number[]>> = {
  visit_new: [Tone.glow, Tone.glow + glowLevels - 1],
  visit_before: [Tone.earlier],
};

/** Return the cells of a swatch, each `wide` x `size` pixels. The list is empty for a kind that no cell shows. */
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

function CellSwatch({ kind, theme, width = 15, height = 15 }: SwatchProps) {
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

/**
 * Return the marks in the scene's focus and the marks that are always visible. A scene without a focus has all marks.
 * Marks that are not about the lesson come last.
 */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const marks = lesson.kinds.filter((kind) => kind.layer === 'mark');
  const focus = new Set(scene.focus);
  const roles = lesson.arms.filter((arm) => scene.arms.includes(arm.name)).map((arm) => arm.role);
  if (focus.size > 0) {
    focus.add('not_visited');
    // In every step, the list walk's wall shows what each visit found.
    const ofList = ['visit_vain', 'visit_busy', 'bit_unread'];
    if (roles.includes('before')) for (const name of ofList) focus.add(name);
    if (roles.some((role) => role !== 'before')) focus.add('bit');
  }
  focus.add('visit_new');
  // Among the calls that scenes show by number, only the first makes several passes.
  if (scene.operation === 1) focus.add('visit_before');
  const chosen = marks.filter((kind) => kind.lesson && (focus.size === 0 || focus.has(kind.name)));
  return [...chosen, ...marks.filter((kind) => !kind.lesson)];
}

export const view: ViewKind = {
  kind: 'memcg-wall',
  about,
  artist: () => wallArtist,
  behind: behindCell,
  summary,
  table,
  preferredHeight: (_index, _lesson, _show, fontSize = 13) => Math.round((fontSize / 13) * 430),
  // The height is the height of the wall's cells, plus room for the names and the gutter.
  narrowHeight: (index, lesson, show) => {
    if (show?.includes('clearing') === true) return null;
    const walls = index.lanes.map((lane) => wallOf(lane, lesson).replay.grid);
    const share = Math.max(0.3, ...walls.map(({ memcgs, cols }) => (memcgs.length + 2) / cols));
    return walls.length * Math.round(150 + Math.min(1, share) * 300);
  },
  sentences,
  outlines: true,
  moments: { touched },
  answers,
  toys: { arrival },
  panels: { cost: { title: t('Cost against n'), evidence: 'counted', Body: CostPanel } },
  counts,
  legend,
  Swatch: CellSwatch,
};
