// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Builds the index of a run from the store. Each lane has one indexer, which exists as long as the run is in the store.
 */

import { second } from '../base/units.ts';
import type { Axis, Lesson } from '../protocol/lesson.ts';
import type { LaneStore } from '../store/lane.ts';
import type { RunStore } from '../store/store.ts';
import { LaneIndexer } from './lane-index.ts';
import { retimed } from './retime.ts';
import type { KindFacts, LaneIndex, RunIndex } from './types.ts';

interface Cached {
  readonly kinds: readonly KindFacts[];
  readonly indexer: LaneIndexer;
}

type Facts = Pick<Lesson, 'kinds' | 'points' | 'axis' | 'beat'>;

const indexers = new WeakMap<LaneStore, Cached>();
const indexes = new WeakMap<RunStore, RunIndex>();

/** What the axis of a run counts; null if the axis shows guest time. */
export function axisOf(lesson: Pick<Lesson, 'axis'>, workload: string): Axis | null {
  const { axis } = lesson;
  if (axis === null || axis.workloads.length === 0) return axis;
  return axis.workloads.includes(workload) ? axis : null;
}

const byWorkload = new WeakMap<Lesson, Map<string, Lesson>>();

/**
 * The lesson as it applies to runs of a workload. If the workload declares its own operation, this operation replaces
 * the lesson's. Memoised.
 */
export function lessonOfRun(lesson: Lesson, workload: string): Lesson {
  const operation = lesson.workloads[workload]?.operation ?? null;
  if (operation === null) return lesson;
  const known = byWorkload.get(lesson) ?? new Map<string, Lesson>();
  byWorkload.set(lesson, known);
  const made = known.get(workload) ?? { ...lesson, operation };
  known.set(workload, made);
  return made;
}

function indexLane(lane: LaneStore, { kinds, points }: Facts, axis: Axis | null): LaneIndex {
  let cached = indexers.get(lane);
  if (cached === undefined || cached.kinds !== kinds) {
    const names = points.map((point) => point.name);
    cached = { kinds, indexer: new LaneIndexer(lane, kinds, names) };
    indexers.set(lane, cached);
  }
  cached.indexer.update();
  return axis === null ? cached.indexer : retimed(cached.indexer, axis.point);
}

/** The current index of a run. It is the same object while nothing has changed. */
export function indexRun(run: RunStore, lesson: Facts & Pick<Lesson, 'hz'>): RunIndex {
  const old = indexes.get(run);
  if (old !== undefined && old.version === run.version && old.kinds === lesson.kinds) return old;
  const phase = run.message?.phase;
  const source = run.message?.source ?? 'recorded';
  const workload = run.message?.workload ?? '';
  const axis = axisOf(lesson, workload);
  const index: RunIndex = {
    runId: run.id,
    source,
    clock: run.message?.clock ?? 'wall',
    live: source === 'live' && (phase === 'running' || phase === 'draining'),
    reading: run.reading === null ? 'unknown' : run.coming ? 'coming' : 'whole',
    lanes: run.ordered().map((lane) => indexLane(lane, lesson, axis)),
    kinds: lesson.kinds,
    axis,
    hostOrder: lesson.points.some((p) => p.name === axis?.point && p.lens !== null),
    beat: lesson.beat?.point ?? null,
    params: { ...run.message?.params, ...run.model },
    workload,
    tickNs: second / lesson.hz,
    version: run.version,
  };
  indexes.set(run, index);
  return index;
}

/**
 * Indices with only some arms, in a given order. They are memoised, so that a view gets the same object for the same
 * arms.
 */
const picked = new WeakMap<RunIndex, Map<string, RunIndex>>();

export function pickLanes(index: RunIndex, arms: readonly string[]): RunIndex {
  const key = arms.join('\n');
  let known = picked.get(index);
  if (known === undefined) {
    known = new Map();
    picked.set(index, known);
  }
  let result = known.get(key);
  if (result === undefined) {
    const lanes = arms.flatMap((arm) => index.lanes.filter((lane) => lane.arm === arm));
    result =
      lanes.length === index.lanes.length && lanes.every((l, i) => l === index.lanes[i])
        ? index
        : { ...index, lanes };
    known.set(key, result);
  }
  return result;
}
