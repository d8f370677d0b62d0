// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 01: a wall per kernel, memcgs by shrinkers; a cell is a possible visit. */

import { t } from '../../base/lang/t.ts';
import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';

import type { ViewKind } from '../contract.ts';
import { about } from './about.ts';
import { wallArtist } from './artist.ts';
import { behindCell } from './behind.ts';
import { CostPanel } from './cost-panel.tsx';
import { touched } from './moments.ts';
import { CellSwatch } from './swatch.tsx';
import { summary, table } from './text-table.ts';
import { arrival } from './toy/arrival.ts';
import { wallOf } from './wall.ts';
import { answers, counts, sentences } from './words.ts';

/** Marks of the wall that the scene speaks of, and those that are always in sight; without a focus all. What is not the lesson stands last. */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const marks = lesson.kinds.filter((kind) => kind.layer === 'mark');
  const focus = new Set(scene.focus);
  const roles = lesson.arms.filter((arm) => scene.arms.includes(arm.name)).map((arm) => arm.role);
  if (focus.size > 0) {
    focus.add('not_visited');
    // Who walks the list shows what each visit found, whatever the step speaks of.
    const ofList = ['visit_vain', 'visit_busy', 'bit_unread'];
    if (roles.includes('before')) for (const name of ofList) focus.add(name);
    if (roles.some((role) => role !== 'before')) focus.add('bit');
  }
  focus.add('visit_new');
  // Later calls here make one pass.
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
  panels: { cost: { title: t('Cost against n'), evidence: 'counted', Body: CostPanel } },
  counts,
  legend,
  Swatch: CellSwatch,
};
