// SPDX-License-Identifier: GPL-2.0-or-later
/** What the fifth call costs against n: a point for each run and arm that this browser has seen. Pure. */

import { scaleLog } from 'd3-scale';
import type { RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { doneCall } from './words.ts';

/** The call that is compared: before it everything has settled. */
export const lastCall = 5;

export interface CostPoint {
  readonly run: string;
  readonly arm: string;
  readonly n: number;
  /** Visits per pass, since calls may differ in passes. */
  readonly visits: number;
  readonly passes: number;
  /** Of the call, ns; traced, so for looking only. */
  readonly ns: number;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
}

/** Points that the run on the stage gives; none while its fifth call is not over, or events of it were lost. */
export function costOf(index: RunIndex, lesson: Lesson): readonly CostPoint[] {
  const n = index.params['n'];
  // Another workload has mounts of its own, and so other visits at the same n.
  const usual = Object.keys(lesson.workloads)[0];
  if (n === undefined || (usual !== undefined && index.workload !== usual)) return [];
  return index.lanes.flatMap((lane): CostPoint[] => {
    const call = doneCall(lane, lesson, lastCall);
    if (call === null || call.passes === 0) return [];
    const { passes } = call;
    const { source, clock, runId: run } = index;
    const visits = call.visits / passes;
    return [{ run, arm: lane.arm, n, visits, passes, ns: call.ended - call.began, source, clock }];
  });
}

const mostKept = 400;

/** Old points with new ones; one for each run and arm, the newest last. */
export function merged(
  old: readonly CostPoint[],
  more: readonly CostPoint[],
): readonly CostPoint[] {
  const fresh = more.filter((p) => !old.some((q) => q.run === p.run && q.arm === p.arm));
  return fresh.length === 0 ? old : [...old, ...fresh].slice(-mostKept);
}

/** What was kept, whatever a storage gives; anything that is no point is left out. */
export function parseCosts(text: string | null): readonly CostPoint[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter(isPoint) : [];
  } catch {
    return [];
  }
}

function isPoint(value: unknown): value is CostPoint {
  const p = value as Partial<Record<keyof CostPoint, unknown>> | null;
  return (
    typeof p === 'object' &&
    p !== null &&
    ['n', 'visits', 'passes', 'ns'].every((key) => Number.isFinite(p[key as keyof CostPoint])) &&
    ['run', 'arm', 'source', 'clock'].every((key) => typeof p[key as keyof CostPoint] === 'string')
  );
}

export type Measure = 'visits' | 'ns';

export interface Reference {
  readonly arm: string;
  readonly n: number;
  readonly value: number;
  readonly words: string;
}

/** Published values of a measure, out of the lesson. */
export function referencesOf(
  lesson: Pick<Lesson, 'references'>,
  measure: Measure,
): readonly Reference[] {
  return lesson.references
    .filter((one) => one.quantity === measure && one.params['n'] !== undefined)
    .map(({ arm, params, value, title }) => ({ arm, n: params['n']!, value, words: title }));
}

export interface Frame2d {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Logarithmic axes over all that is shown. */
export function scalesOf(
  points: readonly CostPoint[],
  references: readonly Reference[],
  measure: Measure,
  frame: Frame2d,
) {
  const ns = [...points.map((p) => p.n), 50, 4000];
  const values = [...points.map((p) => p[measure]), ...references.map((r) => r.value)];
  const [low, high] = [Math.min(...values.filter((v) => v > 0)), Math.max(...values)];
  const x = scaleLog()
    .domain([Math.min(...ns) * 0.8, Math.max(...ns) * 1.3])
    .range([frame.left, frame.width - frame.right]);
  const y = scaleLog()
    .domain([low / 4, high * 2.5])
    .range([frame.height - frame.bottom, frame.top]);
  return { x, y };
}

/** A guide of slope `power` through a point, as two ends. */
export function guide(
  through: Pick<CostPoint, 'n'> & { readonly value: number },
  power: number,
  from: number,
  to: number,
): readonly (readonly [number, number])[] {
  return [from, to].map((n) => [n, through.value * (n / through.n) ** power] as const);
}
