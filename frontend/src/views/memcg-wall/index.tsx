// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 01: a wall per kernel, memcgs by shrinkers; a cell is a possible visit. */

import { useEffect, useRef } from 'react';
import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';

import type { SwatchProps, ViewKind } from '../contract.ts';
import { about } from './about.ts';
import { wallArtist } from './artist.ts';
import { behindCell } from './behind.ts';
import { CostPanel } from './cost-panel.tsx';
import { type Face, faces, Sprites } from './faces.ts';
import { touched } from './moments.ts';
import { summary, table } from './text-table.ts';
import { arrival } from './toy/arrival.ts';
import { wallOf } from './wall.ts';
import { answers, counts, sentences } from './words.ts';

/** A cell as the wall has it, large enough to see. */
export function CellSwatch({ kind, theme, width = 15, height = 15 }: SwatchProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    const face = faces.indexOf(kind as Face);
    if (!context) return;
    const size = Math.round(width * dpr);
    const image = new ImageData(size, size);
    const pixels = new Uint32Array(image.data.buffer);
    if (face >= 0) pixels.set(new Sprites(size, size, theme, new Set()).of(face));
    else {
      context.fillStyle = theme.work;
      context.fillRect(0, 0, size, size);
      return;
    }
    context.putImageData(image, 0, 0);
  }, [kind, theme, width, dpr]);
  const size = Math.round(width * dpr);
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

/** Marks of the wall that the scene speaks of, and bits, which are always in sight; without a focus all. What is not the lesson stands last. */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const marks = lesson.kinds.filter((kind) => kind.layer === 'mark');
  const focus = new Set(scene.focus);
  const roles = lesson.arms.filter((arm) => scene.arms.includes(arm.name)).map((arm) => arm.role);
  if (focus.size > 0) {
    if (roles.includes('before')) focus.add('bit_unread');
    if (roles.some((role) => role !== 'before')) focus.add('bit');
  }
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
  // A wall is as high as its cells are then: a quarter of a hand's width is for names and the gutter.
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
  panels: { cost: { title: 'Cost against n', evidence: 'counted', Body: CostPanel } },
  counts,
  legend,
  Swatch: CellSwatch,
};
