// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 04: a file's entries as lettered boxes, one strip a kernel; the axis counts entries visited. */

import { t } from '../../base/lang/t.ts';
import type { RunIndex } from '../../derive/types.ts';
import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';
import type { Artist, Drawing, ViewKind } from '../contract.ts';
import { about } from './about.ts';
import { answers, counts, nearby } from './answers.ts';
import { behindBox } from './behind.ts';
import { blocksOf } from './block-replay.ts';
import { drawStrip } from './draw.ts';
import { entryWords } from './entry-words.ts';
import { cellAt, layoutStrip, type StripLayout } from './layout.ts';
import { describe, hit, partOf, step } from './marks.ts';
import { panels } from './panels.tsx';
import { factsOf } from './scans.ts';
import { Swatch } from './swatch.tsx';
import { budget } from './toy/budget.ts';
import { sentences, summary } from './words.ts';

function layout(drawing: Drawing, headerHeight: number, fontSize: number): StripLayout {
  const { index, size } = drawing;
  const arms = index.lanes.map((lane) => lane.arm);
  const boxes = blocksOf(index).length;
  return layoutStrip({ arms, boxes, budget: budgetOf(index), size, headerHeight, fontSize });
}

/** Of one scan, as the scans themselves tell it. */
function budgetOf(index: RunIndex): number {
  return Math.max(0, ...index.lanes.map((lane) => factsOf(lane).budget));
}

const artist: Artist<StripLayout> = {
  layout,
  draw: (ctx, laid, drawing, pointed, tiles) => drawStrip(ctx, laid, drawing, pointed, tiles),
  hit,
  step,
  place(laid, drawing, mark) {
    const lane = laid.lanes.find((one) => one.arm === mark.arm);
    if (lane === undefined) return null;
    if (partOf(drawing.lesson, mark) === 'unit')
      return { x: lane.grid.x + mark.row * lane.unit, y: lane.meterY + laid.fontSize };
    const { x, y } = cellAt(lane.grid, mark.row);
    return { x: x + lane.grid.cell, y: y + lane.grid.pitch };
  },
  describe: (drawing, mark) => describe(drawing.index, mark, drawing.lesson),
  label: t('The entries of one file as boxes, a strip for each kernel'),
};

/** Sentences that outline what they speak of. */
const outlining: ReadonlySet<string> = new Set(
  'one_scan each_scan first_gain charged price promise reader'.split(' '),
);

/** What can be seen in a scene: its letters, what a scan does to them, and what the scene adds. */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const seek = (scene.params['seek'] ?? 0) > 0;
  // Whoever may turn the knob may see it.
  const hot = (scene.params['hot'] ?? 0) > 0 || scene.show.includes('knobs');
  const after = lesson.arms.filter((arm) => arm.role === 'after').map((arm) => arm.name);
  const list = scene.arms.length > 1 && scene.arms.some((arm) => after.includes(arm));
  const wanted = new Set(['scan', 'delayed', 'written', 'vain', 'freed', 'gone']);
  if (seek) for (const name of ['hole', 'asked']) wanted.add(name);
  if (hot) wanted.add('spared');
  if (list) wanted.add('thread');
  // Where scans go on until nothing is left, lookups bring entries back.
  if ((list && !scene.show.includes('hold')) || seek) wanted.add('put_back');
  if (outlining.has(scene.sentence)) wanted.add('spoken_of');
  return lesson.kinds.filter((kind) => wanted.has(kind.name));
}

export const view: ViewKind = {
  kind: 'extent-strip',
  about,
  artist: () => artist,
  behind: behindBox,
  entryWords,
  summary,
  table: nearby,
  preferredHeight(index, _lesson, _show, fontSize = 13) {
    const lanes = Math.max(1, index.lanes.length);
    // One lane has room for a scan of 32 to a row.
    const [columns, cell] = lanes === 1 ? [32, 24] : [56, 17];
    const rows = Math.min(24, Math.max(4, Math.ceil(blocksOf(index).length / columns)));
    return lanes * (34 + rows * cell + fontSize * 2 + 26);
  },
  // Half a scan of 32 to a row and a budget with three lines of words; several lanes are squeezed as it is.
  narrowHeight: (index) =>
    index.lanes.length === 1
      ? 34 + Math.min(24, Math.max(4, Math.ceil(blocksOf(index).length / 32))) * 12 + 110
      : null,
  sentences,
  outlines: true,
  answers,
  panels,
  counts,
  legend,
  Swatch,
  toys: { budget },
};
