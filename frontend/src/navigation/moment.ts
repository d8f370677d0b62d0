// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the playback goes: to where a step looks, or to a link's moment, and once more when a live run ends. Pure. */

import { spanOf } from '../derive/moments.ts';
import type { LaneIndex, RunIndex } from '../derive/types.ts';
import type { Mode } from '../playback/machine.ts';
import type { Scene } from '../protocol/lesson.ts';
import { nthOf } from './address.ts';
import type { Align, Place } from './place.ts';

type SeenIndex = Pick<RunIndex, 'runId' | 'live' | 'reading'> & {
  readonly lanes: readonly Pick<LaneIndex, 'watermark'>[];
};

export interface MomentWorld {
  readonly scene: Scene;
  readonly place: Pick<Place, 'moment' | 'window' | 'align' | 'nth' | 'speed'>;
  /** Rises when the place was asked for by Back, Forward or a link: all of it is to be restored. */
  readonly visit: number;
  /** The run on show; null: none, or another one is awaited. */
  readonly index: SeenIndex | null;
  /** All of that run has come. */
  readonly whole: boolean;
  readonly mode: Mode;
}

/** Where the playback was taken: to which step, in which run, at which visit of the address. */
interface Taken {
  readonly scene: string;
  readonly run: string;
  readonly visit: number;
}

export interface MomentState {
  readonly taken: Taken | null;
  /** For which scene, run and reading the playback was moved last. */
  readonly triedFor: string;
  /** The live run that goes on. */
  readonly lived: string | null;
}

export type MomentCommand =
  /** Go to where a step looks; `paused`: stand still there. */
  | { readonly type: 'goto'; readonly scene: Scene; readonly paused: boolean }
  /** Exactly this window and moment, frame time in ns. */
  | {
      readonly type: 'look';
      readonly start: number;
      readonly span: number;
      readonly moment: number;
    }
  | { readonly type: 'seek'; readonly moment: number }
  | { readonly type: 'align'; readonly by: Align; readonly nth: number | undefined }
  | { readonly type: 'speed'; readonly speed: number };

export const firstMoment: MomentState = { taken: null, triedFor: '', lived: null };

/**
 * A recording that comes in has the window of a link, as it will be when all is here: the same of all lanes in guest
 * time, whatever comes later. Any other place is one in the whole run.
 */
function linkIsHere({ index, scene, place }: MomentWorld): boolean {
  if (index?.reading !== 'coming' || place.moment === null || place.window === null) return false;
  if ((place.align ?? scene.align) !== 'time' || spanOf(scene) <= 0) return false;
  const end = Math.max(place.moment, place.window.start + place.window.span);
  return index.lanes.length > 0 && index.lanes.every((lane) => lane.watermark >= end);
}

/** So much of the run has come that the viewer may go about in it. */
export function isSettled({ taken }: MomentState, { scene, index, visit, whole }: MomentWorld) {
  const run = index?.runId ?? null;
  return whole || (taken?.scene === scene.id && taken.run === run && taken.visit === visit);
}

export function advanceMoment(
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
  // A place in a part of a run is none: nothing plays there, and a link's window fills as its events come.
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

/** A live run that has ended is known as a whole: now the step's own moment can be found in it. */
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
