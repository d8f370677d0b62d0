// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The bytes of one object in cache lines. Where the axis counts accesses: each CPU's copies and the lines that travel.
 * Where it is time: which way lockref operations took, the second act of lesson 05.
 */

import { t } from '../../base/lang/t.ts';
import type { Mark, RunIndex } from '../../derive/types.ts';
import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';
import type { Artist, Drawing, Laid, ViewKind } from '../contract.ts';
import type { Pen, TileMaker } from '../paints.ts';
import { about } from './about.ts';
import { answers, counts, nearby } from './answers.ts';
import { behindBytes } from './behind.ts';
import { drawLines } from './draw.ts';
import { drawLock, timeScale } from './draw-lock.ts';
import { stepAt, windowOf } from './draw-order.ts';
import { structOf } from './fields.ts';
import { stepLines } from './keys.ts';
import { heightFor, inside, type LinesLayout, layoutLines, leastHeight } from './layout.ts';
import { type LockLayout, layoutLock } from './lock-layout.ts';
import { describeLock, hitLock, stepLock } from './lock-marks.ts';
import { describeLines, hitLines, placesOf } from './marks.ts';
import { moments } from './moments.ts';
import { laneNow } from './now.ts';
import { panels } from './panels.tsx';
import { modelKnobs, settingsOf } from './settings.ts';
import { Swatch } from './swatch.tsx';
import { fields } from './toy/fields.ts';
import { sentences, summary } from './words.ts';

/** One of the two acts. */
type Picture =
  | (Laid & { readonly act: 'lines'; readonly lines: LinesLayout })
  | (Laid & { readonly act: 'lock'; readonly lock: LockLayout });

/** Lines of the object; one, where the x-ray has not found it. */
function linesOf(index: RunIndex): number {
  return Math.max(1, ...index.lanes.map((lane) => structOf(lane)?.lines ?? 0));
}

function layout(drawing: Drawing, headerHeight: number, fontSize: number): Picture {
  const { index, size, lesson } = drawing;
  const arms = index.lanes.map((lane) => lane.arm);
  if (index.axis === null) {
    const lock = layoutLock(arms, size, headerHeight, fontSize);
    return { act: 'lock', lanes: lock.lanes, lock };
  }
  const { cpus } = settingsOf(index.params, lesson);
  const lines = layoutLines({ arms, lines: linesOf(index), cpus, size, headerHeight, fontSize });
  return { act: 'lines', lanes: lines.lanes, lines };
}

function least({ index, size, lesson }: Drawing, headerHeight: number, fontSize: number): number {
  if (index.axis === null) return 0;
  const arms = index.lanes.map((lane) => lane.arm);
  const { cpus } = settingsOf(index.params, lesson);
  return leastHeight({ arms, lines: linesOf(index), cpus, size, headerHeight, fontSize });
}

function draw(
  pen: Pen,
  picture: Picture,
  drawing: Drawing,
  pointed: Mark | null,
  tiles: TileMaker,
): void {
  if (picture.act === 'lock') drawLock(pen, picture.lock, drawing, pointed, tiles);
  else drawLines(pen, picture.lines, drawing, pointed, tiles);
}

/** All that a mark of a lane needs. */
function placesIn(drawing: Drawing, lines: LinesLayout) {
  return lines.lanes.flatMap((laid) => {
    const lane = drawing.index.lanes.find((one) => one.arm === laid.arm);
    return lane === undefined
      ? []
      : [{ layout: lines, laid, drawing, shown: laneNow(drawing, lane) }];
  });
}

function hit(picture: Picture, drawing: Drawing, x: number, y: number): Mark | null {
  if (picture.act === 'lock') return hitLock(picture.lock, drawing, x, y);
  for (const place of placesIn(drawing, picture.lines)) {
    const mark = hitLines(place, x, y);
    if (mark !== null) return mark;
  }
  return null;
}

function placeOf(picture: Picture, drawing: Drawing, mark: Mark) {
  if (picture.act === 'lock') {
    const laid = picture.lock.lanes.find((one) => one.arm === mark.arm);
    return laid === undefined
      ? null
      : { x: timeScale(laid, drawing)(mark.t1), y: laid.share.y + 20 };
  }
  const place = placesIn(drawing, picture.lines).find(({ laid }) => laid.arm === mark.arm);
  const box = place && placesOf(place, mark)[0];
  return box ? { x: box.x + box.w, y: box.y + box.h } : null;
}

/** Strips and charts are axes: the playhead goes where they are pressed. */
function seek(picture: Picture, drawing: Drawing, x: number, y: number): number | null {
  const { frame } = drawing;
  if (picture.act === 'lock') {
    const laid = picture.lock.lanes.find(({ share, rate }) => y >= share.y && y <= rate.y + rate.h);
    if (laid === undefined || x < laid.share.x) return null;
    return frame.start + ((x - laid.share.x) / laid.share.w) * frame.span;
  }
  for (const place of placesIn(drawing, picture.lines)) {
    const { laid } = place;
    if (!inside(laid.order, x, y) && !inside(laid.executed, x, y)) continue;
    const k = stepAt(place, x);
    const { from, steps } = windowOf(place);
    return k < 0 ? null : frame.start + ((k - from) / steps) * frame.span;
  }
  return null;
}

function describe(index: RunIndex, mark: Mark, lesson: Lesson, drawing?: Drawing): string {
  const lane = index.lanes.find((one) => one.arm === mark.arm);
  if (lane === undefined) return '';
  if (mark.table === 'samples') return describeLock(lane, mark, lesson);
  const frame = drawing?.frame;
  if (frame === undefined) return lesson.kinds[mark.kind]?.title ?? '';
  return describeLines(laneNow({ index, frame, lesson }, lane), mark, lesson);
}

const artist: Artist<Picture> = {
  layout,
  least,
  draw,
  hit,
  step: (picture, drawing, from, key) =>
    picture.act === 'lock'
      ? stepLock(picture.lock, drawing, from, key)
      : stepLines(picture.lines, drawing, from, key),
  place: placeOf,
  seek,
  axis(picture) {
    const share = picture.act === 'lock' ? picture.lock.lanes[0]?.share : undefined;
    return share === undefined ? null : { left: share.x, right: share.x + share.w };
  },
  describe: (drawing, mark) => describe(drawing.index, mark, drawing.lesson, drawing),
  label: t('The bytes of one object in cache lines, and the copies of each CPU, for each kernel'),
};

const acts = {
  lines: [
    'name',
    'name_shared',
    'count',
    'chain',
    'plain',
    'read',
    'rmw',
    'copy_m',
    'copy_e',
    'copy_s',
    'copy_i',
    'fetch',
    'transfer',
    'upgrade',
    'executed',
  ],
  lock: ['by_cas', 'under_lock', 'unknown'],
} as const;

/** What can be seen in a scene: of the act that its workload belongs to. */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const first = Object.keys(lesson.workloads)[0];
  const counts = (lesson.axis?.workloads ?? []).includes(scene.workload ?? first ?? '');
  const wanted: readonly string[] = counts ? acts.lines : acts.lock;
  // One CPU has nobody to share with; more open when all that comes from memory has come.
  const absent = scene.params['model_cpus'] === 1 ? ['copy_s', 'transfer', 'upgrade'] : ['fetch'];
  return lesson.kinds.filter(({ name }) => wanted.includes(name) && !absent.includes(name));
}

export const view: ViewKind = {
  kind: 'cache-lines',
  about,
  knobs: modelKnobs,
  artist: () => artist,
  behind: behindBytes,
  summary,
  table: nearby,
  preferredHeight(index, _lesson, _show, fontSize = 13) {
    const lanes = Math.max(1, index.lanes.length);
    if (index.axis === null) return lanes * (fontSize * 9 + 330);
    return heightFor(lanes, linesOf(index), fontSize);
  },
  sentences,
  outlines: true,
  moments,
  answers,
  tells: { name_reads: ['counted', 'counts'], predicted_ratio: ['model'] },
  panels,
  counts,
  legend,
  Swatch,
  toys: { fields },
};
