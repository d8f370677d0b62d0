// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Which run a lesson page shows: the one that its address names, else the recording that fits the step best. A live run
 * or a saved one stays from step to step as long as it is what the step speaks of. Pure.
 */

import {
  bestRecording,
  differs,
  isSavedRun,
  recordingId,
  runIdOf,
  workloadOf,
} from '../derive/recording.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { sceneParams } from './knobs.ts';
import type { Place } from './place.ts';

type ShownRun = Pick<RunMessage, 'run_id' | 'source' | 'arms' | 'params' | 'clock' | 'workload'>;

/** What of an address says which run is to be shown. */
export type Wanted = Pick<Place, 'run' | 'step'>;

export interface RunWorld {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly place: Wanted;
  /** The run whose events are shown. */
  readonly run: Pick<RunMessage, 'run_id' | 'source'> | null;
  /** A run that was announced and has no events yet. */
  readonly pending: Pick<RunMessage, 'run_id' | 'source'> | null;
  /** The last run of those that this page asked to begin. */
  readonly begun: string | null;
  /** Runs that will not come: the server has said why. */
  readonly lost: ReadonlySet<string>;
}

export interface RunState {
  /** The run that began last and that the address follows already. */
  readonly followed: string | null;
  /** The run that was asked for and is awaited. */
  readonly opened: string | null;
  /** A run that did not come in time. */
  readonly late: string | null;
  /** For which answer of `readRun` the run was opened, and left. */
  readonly openedFor: string;
  readonly leftFor: string;
}

export type RunCommand =
  | { readonly type: 'open'; readonly run: string }
  /** Report `late` unless the run comes in time; null: no run is awaited any more. */
  | { readonly type: 'await'; readonly run: string | null }
  /** A run that was lost may be asked for again. */
  | { readonly type: 'forgive'; readonly run: string }
  | { readonly type: 'go'; readonly change: Partial<Place> };

/** `first`: the run that the page asked for before it knew the lesson. */
export function firstRun(world: RunWorld, first: Wanted): RunState {
  const state = { followed: world.begun, opened: null, late: null, openedFor: '', leftFor: '' };
  const { named, wanted } = readRun(state, world);
  const requested = named === first.run && world.place.step === first.step;
  return { ...state, opened: requested ? wanted : null };
}

export function readRun(state: RunState, { lesson, scene, place, ...world }: RunWorld) {
  const { run, pending, begun, lost } = world;
  // The server has moved this page to the run that it asked for; the address follows.
  const moved = begun !== state.followed ? begun : null;
  const named = moved ?? place.run;
  const best = bestRecording(lesson, scene);
  const fitting = best ? recordingId(lesson, best) : null;
  const wanted = named === null ? fitting : runIdOf(lesson, named);
  const free =
    named !== null || run === null || (run.source === 'recorded' && !isSavedRun(run.run_id));
  const gone = wanted !== null && (lost.has(wanted) || (named !== null && lost.has(named)));
  const misses = free && pending?.source !== 'live' && run?.run_id !== wanted ? wanted : null;
  const requests = gone ? null : misses;
  return {
    moved,
    named,
    wanted,
    fitting,
    requests,
    /** A recording of the lesson comes, however busy the server is: a link's moment is of no other run. */
    sure: lesson.recordings.some((recording) => recording.name === named),
    leaves: named !== null && misses !== null && (gone || state.late === misses),
    awaiting: requests !== null && state.late !== requests,
  };
}

/**
 * The recording that a step names when it is gone to from a live or a saved run which is not what it speaks of; null:
 * the run has its lanes, its knobs and its workload, or is a recording, and those are chosen anew.
 */
export function recordingInstead(
  lesson: Lesson,
  scene: Scene,
  run: ShownRun | null,
): string | null {
  if (run === null || (run.source === 'recorded' && !isSavedRun(run.run_id))) return null;
  const workload = scene.workload == null || run.workload === workloadOf(lesson, scene);
  const off = differs(lesson, { params: sceneParams(scene, run.clock) }, run.params);
  const fits = workload && off.length === 0 && scene.arms.every((arm) => run.arms.includes(arm));
  return fits ? null : (bestRecording(lesson, scene)?.name ?? null);
}

/** A moment of a run that is gone means nothing in another one. */
const noMoment = { moment: null, window: null, nth: null } as const;

export function advanceRun(
  state: RunState,
  world: RunWorld,
): readonly [RunState, readonly RunCommand[]] {
  const { moved, named, fitting, requests, sure, leaves } = readRun(state, world);
  const commands: RunCommand[] = [];
  let next = state;
  const openedFor = JSON.stringify([sure, requests, moved]);
  if (openedFor !== state.openedFor) {
    if (requests !== null && requests !== state.opened && requests !== moved)
      commands.push({ type: 'open', run: requests });
    commands.push({ type: 'await', run: sure ? null : requests });
    next = { ...next, openedFor, opened: requests };
  }
  if (moved !== null) {
    commands.push({ type: 'go', change: { run: moved, ...noMoment } });
    next = { ...next, followed: moved };
  }
  const leftFor = leaves ? JSON.stringify([named, fitting]) : '';
  if (leftFor !== state.leftFor) next = { ...next, leftFor };
  if (leaves && named !== null && leftFor !== state.leftFor) {
    // The server has said why.
    commands.push({ type: 'go', change: { run: null, ...noMoment } });
    // Another time it may be there; what would be shown in its place is not asked for again.
    for (const run of [named, runIdOf(world.lesson, named)])
      if (run !== fitting) commands.push({ type: 'forgive', run });
  }
  return [next, commands];
}
