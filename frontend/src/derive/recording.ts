// SPDX-License-Identifier: GPL-2.0-or-later
/** Chooses the recording that fits a scene best, and describes how the recording differs from the scene. Pure. */

import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';

type Recording = Lesson['recordings'][number];

type Request = Pick<Scene, 'arms' | 'params' | 'workload'>;

/** The workload that a step uses. */
export function workloadOf(
  lesson: Pick<Lesson, 'workloads'>,
  scene: Pick<Scene, 'workload'>,
): string {
  return scene.workload ?? Object.keys(lesson.workloads)[0] ?? '';
}

/** The knobs whose values in `params` differ from those that a scene requests. */
export function differs(
  lesson: Pick<Lesson, 'params'>,
  scene: Pick<Scene, 'params'>,
  params: Readonly<Record<string, number>>,
): readonly { readonly name: string; readonly wanted: number; readonly got: number }[] {
  return Object.entries(requested(lesson, scene)).flatMap(([name, wanted]) => {
    const got = params[name] ?? lesson.params[name]?.default ?? wanted;
    return got === wanted ? [] : [{ name, wanted, got }];
  });
}

/**
 * The knob values that a scene requests: its own values, and the defaults of knobs that it does not set. Duration and
 * CPUs have no defaults here. Knobs of a model are omitted.
 */
function requested(
  lesson: Pick<Lesson, 'params'>,
  scene: Pick<Scene, 'params'>,
): Record<string, number> {
  const all: Record<string, number> = {};
  for (const [name, param] of Object.entries(lesson.params))
    if (param.role !== 'duration' && param.role !== 'cpus') all[name] = param.default;
  const values = Object.entries({ ...all, ...scene.params });
  return Object.fromEntries(values.filter(([k]) => lesson.params[k]?.applies !== 'model'));
}

/**
 * Choose the recording for a scene. Criteria in descending order: the workload, the fewest missing arms, the fewest
 * differing knobs, the nearest values, the clock, and the order in the lesson.
 */
export function bestRecording(
  lesson: Pick<Lesson, 'params' | 'recordings' | 'clock' | 'workloads'>,
  scene: Request,
): Recording | null {
  const rated = lesson.recordings.map((recording, at) => {
    const off = differs(lesson, scene, recording.params);
    const missing = scene.arms.filter((a) => !recording.arms.includes(a)).length;
    const far = off.reduce((sum, d) => sum + Math.abs(Math.log1p(d.wanted) - Math.log1p(d.got)), 0);
    const clock = recording.clock === lesson.clock ? 0 : 1;
    const workload = workloadOf(lesson, scene);
    const other = (recording.workload ?? workload) === workload ? 0 : 1;
    return { recording, rank: [other, missing, off.length, far, clock, at] };
  });
  rated.sort((a, b) => {
    for (let i = 0; i < a.rank.length; i++) {
      const by = (a.rank[i] ?? 0) - (b.rank[i] ?? 0);
      if (by !== 0) return by;
    }
    return 0;
  });
  return rated[0]?.recording ?? null;
}

/** The name of a run in an address. A recording has a name within its lesson; other runs are named by their id. */
export function runNameOf(lesson: Pick<Lesson, 'slug'>, runId: string): string {
  const prefix = recordingId(lesson, { name: '' });
  return runId.startsWith(prefix) ? runId.slice(prefix.length) : runId;
}

/** The id of the run with this name in an address. */
export function runIdOf(
  lesson: Pick<Lesson, 'slug' | 'recordings' | 'cells'>,
  name: string,
): string {
  return isRecorded(lesson, name) ? recordingId(lesson, { name }) : name;
}

/** Whether the lesson has a recording of this name, of a step or of a cell of a grid. */
export function isRecorded(
  lesson: Pick<Lesson, 'recordings' | 'cells'>,
  name: string | null,
): boolean {
  return [...lesson.recordings, ...lesson.cells].some((recording) => recording.name === name);
}

/** The id of a recording's run, which is also the argument of `open` that requests the recording. */
export function recordingId(
  lesson: Pick<Lesson, 'slug'>,
  recording: Pick<Recording, 'name'>,
): string {
  return `recorded:${lesson.slug}:${recording.name}`;
}

/** Whether the server saved this run from a live run. A saved run stays on the stage when the step changes. */
export function isSavedRun(runId: string | null | undefined): boolean {
  return runId?.startsWith('kept:') ?? false;
}

// Chooses the measured table that fits a scene. Pure.

/** Remove tables from other hosts, because only values from the same host can be compared. */
export function ownTables<T extends { readonly on?: string; readonly curve?: string }>(
  tables: readonly T[],
): readonly T[] {
  return tables.filter(({ on, curve }) => !on && !curve);
}

/** The current values of the knobs. */
interface Asked {
  readonly params: Readonly<Record<string, number>>;
  readonly clock: string;
  readonly workload: string;
}

/**
 * Choose the table for a scene. A table that was measured live takes precedence. The second choice is a recorded table
 * with all arms of the scene and with the current knobs. The third is `atHand`, if it has all arms, and the last is any
 * recorded table with all arms.
 */
export function tableFor(
  atHand: MeasuredMessage | null,
  lesson: Pick<Lesson, 'slug' | 'measured'>,
  scene: Pick<Scene, 'arms'>,
  asked: Asked,
): MeasuredMessage | null {
  const own = atHand?.lesson === lesson.slug ? atHand : null;
  if (own?.source === 'live') return own;
  const fits = ({ rows }: Pick<MeasuredMessage, 'rows'>) =>
    scene.arms.every((arm) => rows.some((row) => row.arm === arm));
  const fitting = ownTables(lesson.measured).filter(fits);
  const same = fitting.find(
    ({ clock, workload, params }) =>
      clock === asked.clock &&
      workload === asked.workload &&
      Object.entries(params).every(([name, value]) => value === asked.params[name]),
  );
  const other = same ?? (own && fits(own) ? null : fitting[0]);
  return other ? { ...other, type: 'measured' } : own;
}
