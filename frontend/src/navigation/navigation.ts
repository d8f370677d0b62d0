// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Which run and which moment a page shows, as one reducer: a report of address, step, runs, index and playback goes in,
 * commands come out. It knows neither React nor a clock; `use-navigation.ts` carries the commands out.
 */

import { runNameOf } from '../derive/recording.ts';
import type { PlaybackState } from '../playback/machine.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { alignable, placeAt, type Usual, usualOf } from './address.ts';
import {
  advanceMoment,
  firstMoment,
  isSettled,
  type MomentCommand,
  type MomentState,
  type MomentWorld,
} from './moment.ts';
import type { Place } from './place.ts';
import {
  advanceRun,
  firstRun,
  type RunCommand,
  type RunState,
  type RunWorld,
  readRun,
  type Wanted,
} from './run.ts';

/** All that decides; every change of it is reported. */
export interface World {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly place: Place;
  /** See MomentWorld. */
  readonly visit: number;
  readonly index: MomentWorld['index'];
  /** All of the run of `index` has come. */
  readonly whole: boolean;
  readonly playback: Pick<
    PlaybackState,
    'mode' | 'moment' | 'start' | 'span' | 'speed' | 'alignment' | 'operation'
  >;
  /** What the server has said of runs; null: the run of the address is shown, whatever it says. */
  readonly runs: Pick<RunWorld, 'run' | 'pending' | 'begun' | 'lost'> | null;
}

export interface State {
  readonly run: RunState | null;
  readonly moment: MomentState;
  /** The speed of the step before anybody changed it. */
  readonly usualSpeed: number;
  /** What is to be written into the address, as JSON; empty: nothing yet. */
  readonly written: string;
}

export type Command =
  | RunCommand
  | MomentCommand
  /** Write this into the address once the page rests; null: what was to be written is outdated. */
  | { readonly type: 'write'; readonly change: Partial<Place> | null };

export type Event =
  | { readonly type: 'world'; readonly world: World }
  /** The playback went to a step, which it plays at this speed. */
  | { readonly type: 'went'; readonly speed: number }
  /** A run did not come in time. */
  | { readonly type: 'late'; readonly run: string };

/** What a page shows of a state. */
export interface Shown {
  /** Another recording was asked for and is on its way. */
  readonly awaiting: boolean;
  /** A live run was asked for, and has no events yet. */
  readonly coming: boolean;
  /** All of the run has come. */
  readonly whole: boolean;
  /** See isSettled. */
  readonly settled: boolean;
  readonly usual: Usual;
  /** The name of the run on show in the address; null: none is to be named. */
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

/** The state that a report led to, with what was reported while it was worked out. */
export function adopt(now: State, next: State): State {
  const { run, usualSpeed } = now;
  return { ...next, usualSpeed, run: next.run && { ...next.run, late: run?.late ?? null } };
}

/** A moment that stands still is written into the address, with its run and its window; a moving one is not. */
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
