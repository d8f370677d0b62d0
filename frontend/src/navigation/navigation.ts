// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The reducer that decides which run and which moment a page shows. Its inputs are reports about the address, the step,
 * runs, the index and playback. Its outputs are commands, which `use-navigation.ts` executes. The reducer uses neither
 * React nor a clock.
 */

import { must } from '../base/assert.ts';
import { resolveStep } from '../base/typed.ts';
import { unaligned } from '../derive/align.ts';
import { runOf } from '../derive/grid.ts';
import { spanOf } from '../derive/moments.ts';
import {
  bestRecording,
  differs,
  isRecorded,
  isSavedRun,
  recordingId,
  runIdOf,
  runNameOf,
  workloadOf,
} from '../derive/recording.ts';
import type { LaneIndex, RunIndex } from '../derive/types.ts';
import type { Mode, PlaybackState } from '../playback/machine.ts';
import type { GridCell, Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { isOwn } from '../store/changes.ts';
import { type Knobs, knobPlace, knobsAt, onClock, sceneKnobs, sceneParams } from './knobs.ts';
import { type Align, elsewhere, type Pane, type Place, writePlace } from './place.ts';

// Computes the address for a state of playback. Pure.

/** The default settings of a step. The address omits them. */
interface Usual {
  /** Speed of playback, in guest seconds per real second. */
  readonly speed: number;
  readonly align: Align;
  readonly nth: number | undefined;
}

type Moment = Pick<
  PlaybackState,
  'mode' | 'moment' | 'start' | 'span' | 'speed' | 'alignment' | 'operation'
>;

/** Number of the operation at which a step aligns lanes; undefined for the operation near the window. */
export function nthOf(align: Align, scene: Pick<Scene, 'operation'>): number | undefined {
  return align === 'begin' ? scene.operation : undefined;
}

function usualOf(scene: Pick<Scene, 'align' | 'operation'>, speed: number): Usual {
  return { speed, align: scene.align, nth: nthOf(scene.align, scene) };
}

/** The place, without its alignment if the lesson does not support alignment by operations. */
function alignable<P extends Place>(lesson: Lesson, place: P): P {
  return unaligned(lesson) === null ? place : { ...place, align: null };
}

/** The address for a state of playback. `run` is included if the moment is at rest. */
function placeAt(
  { mode, moment, start, span, speed, alignment, operation }: Moment,
  usual: Usual,
  run: string | null,
): Partial<Place> {
  const still = mode === 'paused';
  const counted = alignment === 'operation' || alignment === 'begin';
  const asUsual = alignment === usual.align && operation === usual.nth;
  return {
    ...(still ? { run } : {}),
    moment: still ? Math.round(moment) : null,
    window: still ? { start: Math.round(start), span: Math.round(span) } : null,
    speed: Math.abs(speed / usual.speed - 1) < 0.01 ? null : speed,
    align: alignment === usual.align ? null : alignment,
    nth: counted && still && !asUsual ? operation : null,
  };
}

/** The complete link to the current moment, as if playback were paused. */
export function linkTo(
  now: Moment,
  {
    place,
    usual,
    run,
    also,
  }: {
    readonly place: Place;
    readonly usual: Usual;
    readonly run: string | null;
    /** Fields that the link contains even if they have the step's values. */
    readonly also: Partial<Place>;
  },
): string {
  const to = {
    ...place,
    ...placeAt({ ...now, mode: 'paused' }, usual, run),
    speed: now.speed,
    align: now.alignment,
    ...also,
  };
  return `${location.origin}${location.pathname}${writePlace(to, location.search)}`;
}

// Decides which run a lesson page shows: the run in its address, or otherwise the recording that fits the step best.
// When the step changes, a live or saved run stays on the stage as long as it fits the new step. Pure.

type ShownRun = Pick<RunMessage, 'run_id' | 'source' | 'arms' | 'params' | 'clock' | 'workload'>;

/** The fields of an address that determine the run. */
export type Wanted = Pick<Place, 'run' | 'step'>;

/** The knobs in an address. They determine the run if the address names none. */
type Turned = Pick<Place, 'knobs' | 'clock' | 'workload' | 'arms'>;

interface RunWorld {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly place: Wanted & Turned;
  /** The run whose events are on the stage. */
  readonly run: Pick<RunMessage, 'run_id' | 'source'> | null;
  /** A run that was announced but that has no events yet. */
  readonly pending: Pick<RunMessage, 'run_id' | 'source'> | null;
  /** The most recent live run that this page requested. */
  readonly begun: string | null;
  /** Runs that will not arrive, according to the server. */
  readonly lost: ReadonlySet<string>;
}

interface RunState {
  /** The most recent live run that was written to the address. */
  readonly followed: string | null;
  /** The run that the page has requested and that has not arrived yet. */
  readonly opened: string | null;
  /** A run that did not arrive in time. */
  readonly late: string | null;
  /** The results `sure`, `requests` and `moved` of `readRun` when a run was last requested, as JSON. */
  readonly openedFor: string;
  readonly leftFor: string;
}

type RunCommand =
  | { readonly type: 'open'; readonly run: string }
  /** Report `late` if the run does not arrive in time. If `run` is null, stop waiting. */
  | { readonly type: 'await'; readonly run: string | null }
  /** Allow a lost run to be requested again. */
  | { readonly type: 'forgive'; readonly run: string }
  | { readonly type: 'go'; readonly change: Partial<Place> };

/** The initial state. `first` describes the run that the page requested before it knew the lesson. */
function firstRun(world: RunWorld, first: Wanted): RunState {
  const state = { followed: world.begun, opened: null, late: null, openedFor: '', leftFor: '' };
  const { named, wanted, turned } = readRun(state, world);
  const requested = named === first.run && world.place.step === first.step && turned === null;
  return { ...state, opened: requested ? wanted : null };
}

function readRun(state: RunState, { lesson, scene, place, ...world }: RunWorld) {
  const { run, pending, begun, lost } = world;
  // The server has moved this page to the live run that the page requested, so this run is written to the address.
  const moved = begun !== state.followed ? begun : null;
  const named = moved ?? place.run;
  const turned = named === null ? turnedRun(lesson, scene, place) : null;
  const best = turned ?? bestRecording(lesson, scene);
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
    turned,
    fitting,
    requests,
    /**
     * Whether the run is a recording of the lesson. Such a run arrives even if the server is busy, so the link's moment
     * stays valid.
     */
    sure: isRecorded(lesson, named),
    leaves: named !== null && misses !== null && (gone || state.late === misses),
    awaiting: requests !== null && state.late !== requests,
  };
}

/**
 * The recorded run for the knobs in an address, if these knobs differ from the step's knobs; null if no run is recorded
 * for them.
 */
function turnedRun(lesson: Lesson, scene: Scene, place: Turned) {
  const { knobs, clock, workload } = place;
  if (knobs === null && clock === null && workload === null) return null;
  const now = knobsAt(lesson, scene, { knobs, clock, workload });
  return runOf(lesson, { ...now, arms: place.arms ?? scene.arms });
}

/**
 * The name of the step's recording, if the run on the stage is live or saved and does not fit the step. Null if the run
 * has the step's lanes, knobs and workload. Also null if the run is a recording of the lesson, because other code
 * replaces recordings.
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

/** Fields that are reset when the address gets another run, because the old moment belongs to the old run. */
const noMoment = { moment: null, window: null, nth: null } as const;

function advanceRun(state: RunState, world: RunWorld): readonly [RunState, readonly RunCommand[]] {
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
    // The server has already reported the reason, so this code only removes the run from the address.
    commands.push({ type: 'go', change: { run: null, ...noMoment } });
    // The lost run may exist later, so the page may request the lost run again. If the lost run is the step's own
    // recording, the page must not request it again.
    for (const run of [named, runIdOf(world.lesson, named)])
      if (run !== fitting) commands.push({ type: 'forgive', run });
  }
  return [next, commands];
}

// Decides where playback goes: to a step's moment or to a link's moment. Pure.
// When a live run ends, playback goes to the step's moment again.

type SeenIndex = Pick<RunIndex, 'runId' | 'live' | 'reading'> & {
  readonly lanes: readonly Pick<LaneIndex, 'watermark'>[];
};

interface MomentWorld {
  readonly scene: Scene;
  readonly place: Pick<Place, 'moment' | 'window' | 'align' | 'nth' | 'speed'>;
  /**
   * A counter that increases when the place came from Back, Forward or a link. The complete place must then be
   * restored.
   */
  readonly visit: number;
  /** The run on the stage; null without a run, or while the page waits for another run. */
  readonly index: SeenIndex | null;
  /** Whether all data of the run have arrived. */
  readonly whole: boolean;
  readonly mode: Mode;
}

/** The destination to which playback went last: step, run, and number of the visit. */
interface Taken {
  readonly scene: string;
  readonly run: string;
  readonly visit: number;
}

interface MomentState {
  readonly taken: Taken | null;
  /** The scene, the run and its loading state when playback was last moved. */
  readonly triedFor: string;
  /** The live run that is still running. */
  readonly lived: string | null;
}

type MomentCommand =
  /** Go to a step's moment. If `paused` is true, stay at that moment. */
  | { readonly type: 'goto'; readonly scene: Scene; readonly paused: boolean }
  /** Set exactly this window and this moment, in frame time, ns. */
  | {
      readonly type: 'look';
      readonly start: number;
      readonly span: number;
      readonly moment: number;
    }
  | { readonly type: 'seek'; readonly moment: number }
  | { readonly type: 'align'; readonly by: Align; readonly nth: number | undefined }
  | { readonly type: 'speed'; readonly speed: number };

const firstMoment: MomentState = { taken: null, triedFor: '', lived: null };

/**
 * Whether a link's window is complete, because all lanes of the recording have arrived up to its end. The place of such
 * a link is final, while other places depend on the complete run.
 */
function linkIsHere({ index, scene, place }: MomentWorld): boolean {
  if (index?.reading !== 'coming' || place.moment === null || place.window === null) return false;
  if ((place.align ?? scene.align) !== 'time' || spanOf(scene) <= 0) return false;
  const end = Math.max(place.moment, place.window.start + place.window.span);
  return index.lanes.length > 0 && index.lanes.every((lane) => lane.watermark >= end);
}

/** Whether the viewer can control playback, because enough of the run has arrived. */
function isSettled({ taken }: MomentState, { scene, index, visit, whole }: MomentWorld) {
  const run = index?.runId ?? null;
  return whole || (taken?.scene === scene.id && taken.run === run && taken.visit === visit);
}

function advanceMoment(
  state: MomentState,
  world: MomentWorld,
): readonly [MomentState, readonly MomentCommand[]] {
  const commands: MomentCommand[] = [];
  const next = follow(take(state, world, commands), world, commands);
  return [next, commands];
}

function take(state: MomentState, world: MomentWorld, commands: MomentCommand[]): MomentState {
  const { scene, index, visit, place } = world;
  const run = index?.runId ?? null;
  const here = linkIsHere(world) || world.whole;
  const coming = index?.reading === 'coming';
  const triedFor = JSON.stringify([scene.id, run, here, coming, visit]);
  if (triedFor === state.triedFor) return state;
  const next = { ...state, triedFor };
  const { taken } = state;
  if (run === null) return next;
  if (taken?.scene === scene.id && taken.run === run && taken.visit === visit) return next;
  const restore = (taken === null || taken.visit !== visit) && place.moment !== null;
  // A place found in an incomplete run is preliminary, so nothing plays yet. A link's window fills while events arrive.
  commands.push({ type: 'goto', scene, paused: restore || (coming && !here) });
  if (!here) {
    if (coming && restore && place.window !== null) commands.push(lookAt(place));
    return next;
  }
  const align = place.align ?? scene.align;
  commands.push({ type: 'align', by: align, nth: place.nth ?? nthOf(align, scene) });
  if (place.speed !== null) commands.push({ type: 'speed', speed: place.speed });
  if (restore) commands.push(lookAt(place));
  return { ...next, taken: { scene: scene.id, run, visit } };
}

function lookAt({ moment, window }: MomentWorld['place']): MomentCommand {
  return window === null
    ? { type: 'seek', moment: moment ?? 0 }
    : { type: 'look', ...window, moment: moment ?? 0 };
}

/** A live run that has ended is completely known, so the step's own moment can be found. */
function follow(
  state: MomentState,
  { index, scene, mode }: MomentWorld,
  commands: MomentCommand[],
): MomentState {
  const run = index?.runId ?? null;
  if (index?.live) return state.lived === run ? state : { ...state, lived: run };
  if (state.lived === null || state.lived !== run) return state;
  if (mode === 'scope') commands.push({ type: 'goto', scene, paused: false });
  return { ...state, lived: null };
}

/** All inputs of the reducer. The page reports every change of these inputs to the reducer. */
export interface World {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly place: Place;
  /** Number of the visit to the address (see MomentWorld.visit). */
  readonly visit: number;
  readonly index: MomentWorld['index'];
  /** Whether all data of the run in `index` have arrived. */
  readonly whole: boolean;
  readonly playback: Pick<
    PlaybackState,
    'mode' | 'moment' | 'start' | 'span' | 'speed' | 'alignment' | 'operation'
  >;
  /**
   * The server's messages about runs. Null if the page shows the run in the address without regard to these messages.
   */
  readonly runs: Pick<RunWorld, 'run' | 'pending' | 'begun' | 'lost'> | null;
}

export interface State {
  readonly run: RunState | null;
  readonly moment: MomentState;
  /** The speed that the step set, before any change by the viewer. */
  readonly usualSpeed: number;
  /** The last change that was passed to `write`, as JSON; empty if it was null. */
  readonly written: string;
}

export type Command =
  | RunCommand
  | MomentCommand
  /** Write this change to the address when the page is idle. If `change` is null, discard the pending change. */
  | { readonly type: 'write'; readonly change: Partial<Place> | null };

export type Event =
  | { readonly type: 'world'; readonly world: World }
  /** Playback went to a step, which set this speed. */
  | { readonly type: 'went'; readonly speed: number }
  /** A run did not arrive in time. */
  | { readonly type: 'late'; readonly run: string };

/** The parts of the state that the page shows. */
export interface Shown {
  /** Whether another recording was requested and is still loading. */
  readonly awaiting: boolean;
  /** Whether a live run was requested but has no events yet. */
  readonly coming: boolean;
  /** Whether all data of the run have arrived. */
  readonly whole: boolean;
  /** Whether the viewer can control playback (see isSettled). */
  readonly settled: boolean;
  readonly usual: Usual;
  /** The name that an address uses for the run on the stage; null if addresses do not name this run. */
  readonly runName: string | null;
}

export function start(world: World, first: Wanted): State {
  const runs = runWorld(world);
  return {
    run: runs && firstRun(runs, first),
    moment: firstMoment,
    usualSpeed: 0,
    written: '',
  };
}

export function read(state: State, world: World): Shown {
  const { lesson, scene, place, runs } = world;
  const coming = runs?.pending?.source === 'live';
  const run = runs?.run ?? null;
  const shown = run === null || coming ? null : runNameOf(lesson, run.run_id);
  const moment = momentWorld(state, world);
  return {
    awaiting: isAwaiting(state, world),
    coming,
    whole: moment.whole,
    settled: isSettled(state.moment, moment),
    usual: usualOf(scene, state.usualSpeed),
    runName: runs === null ? place.run : shown,
  };
}

export function reduce(state: State, event: Event): readonly [State, readonly Command[]] {
  if (event.type === 'went') return [{ ...state, usualSpeed: event.speed }, []];
  if (event.type === 'late')
    return [{ ...state, run: state.run && { ...state.run, late: event.run } }, []];
  const { world } = event;
  const [moment, moves] = advanceMoment(state.moment, momentWorld(state, world));
  const [written, write] = advanceAddress(state, world);
  const runs = runWorld(world);
  const [run, opens] = runs && state.run ? advanceRun(state.run, runs) : [state.run, []];
  const same = moment === state.moment && run === state.run && written === state.written;
  return [same ? state : { ...state, moment, run, written }, [...moves, ...write, ...opens]];
}

/** Combine the result of a report with reports that arrived while the result was being computed. */
export function adopt(now: State, next: State): State {
  const { run, usualSpeed } = now;
  return { ...next, usualSpeed, run: next.run && { ...next.run, late: run?.late ?? null } };
}

/** Once the moment is at rest, write it to the address with its run and window. */
function advanceAddress(state: State, world: World): readonly [string, readonly Command[]] {
  const { settled, awaiting, usual, runName } = read(state, world);
  const ready = settled && !awaiting;
  const change = ready ? placeAt(world.playback, usual, runName) : null;
  const written = change === null ? '' : JSON.stringify(change);
  return written === state.written ? [written, []] : [written, [{ type: 'write', change }]];
}

function runWorld({ lesson, scene, place, runs }: World): RunWorld | null {
  return runs && { lesson, scene, place, ...runs };
}

function isAwaiting(state: State, world: World): boolean {
  const runs = runWorld(world);
  return runs !== null && state.run !== null && readRun(state.run, runs).awaiting;
}

function momentWorld(state: State, world: World): MomentWorld {
  const { lesson, scene, visit, playback } = world;
  const away = isAwaiting(state, world);
  return {
    scene,
    visit,
    place: alignable(lesson, world.place),
    index: away ? null : world.index,
    whole: !away && world.whole,
    mode: playback.mode,
  };
}

// Changes to the address by a viewer: another step, another run, knobs, or a pane. Pure.

type Change = Partial<Place>;

/** Go to a step by name. If the name is unknown, the current scene's knobs are kept. */
export function toStep(lesson: Lesson, scene: Scene, knobs: Knobs, id: string): Change {
  const to = lesson.scenes.find((one) => one.id === id) ?? scene;
  return { ...elsewhere, ...knobPlace(lesson, to, sceneKnobs(lesson, knobs, to, scene)), step: id };
}

/** The step that is `by` positions after this one; null if no such step exists. */
export function stepAfter(lesson: Lesson, scene: Scene, by: number): string | null {
  return lesson.scenes[lesson.scenes.indexOf(scene) + by]?.id ?? null;
}

/** Show another run from its start, with the step's defaults. */
export function toRun(run: string): Change {
  return { ...elsewhere, run };
}

/** Return to the step's recording. Knobs that the viewer changed for their own run are reset. */
export function toRecording(run: string): Change {
  return { ...toRun(run), knobs: null, clock: null, workload: null };
}

/** Remove the run and its moment from the address, because a new run begins. */
export const toNewRun = { run: null, moment: null, window: null } as const satisfies Change;

/** @param now the current knobs, with the visible arms */
export function toKnobs(
  lesson: Lesson,
  scene: Scene,
  now: Knobs,
  requested: Knobs,
  run: Pick<RunMessage, 'source' | 'run_id'> | null,
): Change {
  const next =
    requested.clock === now.clock
      ? requested
      : {
          ...requested,
          ...onClock(lesson, scene, { ...requested, clock: now.clock }, requested.clock),
        };
  const changed = next.arms.join() === now.arms.join() ? {} : { arms: next.arms };
  // A recorded run is replaced by the recorded run for the new values. A live or saved run stays, because it is the
  // viewer's own.
  const recorded = run?.source === 'recorded' && !isSavedRun(run.run_id);
  const found = recorded ? runOf(lesson, next) : null;
  const other = found !== null && recordingId(lesson, found) !== run?.run_id;
  return { ...(other ? toNewRun : {}), ...changed, ...knobPlace(lesson, scene, next) };
}

/** Show the recorded run of a cell, with the knobs of that cell. */
export function toCell(lesson: Lesson, scene: Scene, now: Knobs, cell: GridCell): Change {
  const turned = Object.entries(cell.params).filter(([k]) => lesson.params[k]?.role !== 'duration');
  const next = { ...now, params: { ...now.params, ...Object.fromEntries(turned) } };
  return { ...toRun(cell.name), ...knobPlace(lesson, scene, next) };
}

/** Open or close a pane. By default, an open pane is closed and a closed pane is opened. */
export function togglePane(
  panes: readonly Pane[],
  pane: Pane,
  open = !panes.includes(pane),
): Change {
  const others = panes.filter((one) => one !== pane);
  return { panes: open ? [...others, pane] : others };
}

// Finds the step and the arms that an address selects. Pure.

/** The step that an address names (see `stepName`), or the first step if the name is unknown. */
export function sceneOf(lesson: Lesson, step: string | null): Scene {
  return named(lesson, stepName(lesson, step)) ?? must(lesson.scenes[0], 'a scene');
}

/** Whether a step has this name or had it in the past. */
export function hasStep(lesson: Lesson, step: string): boolean {
  return named(lesson, step) !== undefined;
}

/**
 * Resolve a step that is given by its position, counted from 1, or by a part of its name. Current names, former names
 * and unknown words are returned unchanged.
 */
export function stepName(lesson: Lesson, step: string | null): string | null {
  if (step === null || named(lesson, step) !== undefined) return step;
  const ids = lesson.scenes.map(({ id }) => id);
  return resolveStep(step, ids) ?? step;
}

function named(lesson: Lesson, step: string | null): Scene | undefined {
  return lesson.scenes.find((s) => s.id === step || (step !== null && s.was.includes(step)));
}

/**
 * The arms that an address selects. By default, these are the step's arms, and arms that the viewer made by a change.
 */
export function armsOf(
  lesson: Lesson,
  scene: Scene,
  place: Pick<Place, 'arms'>,
  ran: readonly string[] = [],
): readonly string[] {
  const known = (name: string) => lesson.arms.some((arm) => arm.name === name);
  const arms = place.arms?.filter(known) ?? [];
  if (arms.length > 0) return arms;
  const own = ran.filter((name) => isOwn(name) && known(name));
  return own.length > 0 ? [...scene.arms, ...own] : scene.arms;
}
