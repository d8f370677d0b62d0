// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Playback as a pure state machine: (state, action or elapsed time, world) -> state. The modes are:
 * - `scope`: the oscilloscope. It plays a window in slow motion, pauses, and continues with the newest complete window.
 * - `play`: playback continues past the window's end, and the window advances by its own length, like turning a page.
 * - `paused`: the moment changes only by actions.
 *
 * Live and recorded runs differ only in the choice of the next window.
 */

import { scaleLog } from 'd3-scale';
import { assertNever } from '../base/assert.ts';
import { millisecond, type Nanos, ns, second } from '../base/units.ts';
import { noOffsets, type Offsets, operationOf, together } from '../derive/align.ts';
import {
  beatAfter,
  type Direction,
  eventAfter,
  firstDivergence,
  type Jump,
  nextLongWait,
  nextLoss,
} from '../derive/jumps.ts';
import { frameEnd, newestEpisode, nextEpisode, type Place, stepOf } from '../derive/moments.ts';
import type { Alignment, Frame, Mark, RunIndex } from '../derive/types.ts';

// Range of the speed slider, in guest seconds per real second. The slider is logarithmic.

export const slowest = 1e-6;
export const fastest = 10;

const slider = scaleLog([slowest, fastest], [0, 1]).clamp(true);

function clampSpeed(speed: number): number {
  return Math.min(fastest, Math.max(slowest, speed));
}

/** Convert a speed to a position on the speed slider, 0 to 1. */
export function sliderOf(speed: number): number {
  return slider(speed);
}

/** Convert a position on the speed slider to a speed, rounded to two digits. */
export function speedOf(place: number): number {
  return clampSpeed(Number(slider.invert(place).toPrecision(2)));
}

/** The speed at which a window of `spanNs` is played in `seconds` of real time. */
function speedFor(spanNs: number, seconds: number): number {
  return clampSpeed(spanNs / (seconds * second));
}

// The state of playback, and the actions that change it.

export type Mode = 'scope' | 'play' | 'paused';

export interface PlaybackState {
  readonly mode: Mode;
  /** Whether the stage is covered because a prediction is asked. A covered stage does not play. */
  readonly veiled: boolean;
  readonly moment: Nanos;
  readonly start: Nanos;
  readonly span: number;
  /** Speed of playback, in guest seconds per real second. */
  readonly speed: number;
  readonly direction: Direction;
  readonly alignment: Alignment;
  /**
   * Number of the requested operation, from 1; null if no operation was requested. If it is null, an alignment by
   * `operation` uses the operation near the window, and other alignments use the first operation.
   */
  readonly nth: number | null;
  /** Number of the operation at which the lanes are aligned, from 1. */
  readonly operation: number;
  readonly offset: Offsets;
  readonly selection: Mark | null;
  /** The last jump, and the moment before it, for the sentence that the page shows about a jump. Null once that sentence is no longer true. */
  readonly jumped: { readonly what: Jump; readonly from: Nanos } | null;
  readonly focus: ReadonlySet<string>;
  /** Whether each lane stops after one operation (see Frame.hold). */
  readonly hold: boolean;
  /** Whether the oscilloscope advances to the newest window; otherwise it repeats the same window. */
  readonly follows: boolean;
  /** Whether the oscilloscope has a window with events. */
  readonly armed: boolean;
  /** Time since the oscilloscope reached the end of its window, real ms. */
  readonly heldMs: number;
  /** With reduced motion: time since playback moved to the last beat, real ms. */
  readonly sinceBeatMs: number;
}

export interface World {
  readonly index: RunIndex | null;
  /**
   * Whether the user prefers reduced motion (prefers-reduced-motion). In that case, playback moves from beat to beat.
   */
  readonly reduced: boolean;
}

export const holdMs = 1200;
export const beatMs = 1200;

export const initialPlayback: PlaybackState = {
  mode: 'scope',
  veiled: false,
  moment: ns(0),
  start: ns(0),
  span: 30 * millisecond,
  speed: speedFor(30 * millisecond, 5),
  direction: 1,
  alignment: 'time',
  nth: null,
  operation: 1,
  offset: noOffsets,
  selection: null,
  jumped: null,
  focus: new Set(),
  hold: false,
  follows: true,
  armed: false,
  heldMs: 0,
  sinceBeatMs: 0,
};

export type Action =
  /** Play in this direction; by default, in the previous direction. */
  | { readonly type: 'play'; readonly direction?: Direction }
  | { readonly type: 'pause' }
  | { readonly type: 'veil'; readonly veiled: boolean }
  | { readonly type: 'resume' }
  | { readonly type: 'scope' }
  | { readonly type: 'seek'; readonly moment: number }
  | { readonly type: 'window'; readonly start: number; readonly span?: number }
  | { readonly type: 'zoom'; readonly factor: number }
  /** The user zoomed, moved or brushed the window. */
  | { readonly type: 'view'; readonly start: number; readonly span: number }
  | { readonly type: 'speed'; readonly speed: number }
  | { readonly type: 'reverse' }
  | { readonly type: 'beat'; readonly direction: Direction }
  | { readonly type: 'event'; readonly direction: Direction }
  | { readonly type: 'long_wait' }
  | { readonly type: 'divergence' }
  | { readonly type: 'loss' }
  /** Set the window and the moment from a link, and pause. */
  | {
      readonly type: 'look';
      readonly start: number;
      readonly span: number;
      readonly moment: number;
    }
  /** Align the lanes. `asked` says whether a person pressed the button for this alignment. */
  | {
      readonly type: 'align';
      readonly alignment: Alignment;
      readonly nth?: number;
      readonly asked?: boolean;
    }
  | { readonly type: 'select'; readonly mark: Mark | null }
  | { readonly type: 'focus'; readonly kinds: readonly string[] }
  | {
      readonly type: 'place';
      readonly place: Place;
      readonly seconds: number;
      readonly focus: readonly string[];
      readonly hold?: boolean;
      readonly paused?: boolean;
    };

/** Minimum length of the window, ns. */
const leastSpan = 1000;
const mostSpan = 120e9;

/** Actions after which the sentence about the last jump is still true. */
const says: ReadonlySet<Action['type']> = new Set(['select', 'focus', 'speed', 'pause', 'veil']);

/** Return the state after an action. */
export function reduce(state: PlaybackState, action: Action, world: World): PlaybackState {
  const next = act(state, action, world);
  const jumped = says.has(action.type) ? state.jumped : jumpOf(state, action);
  return jumped === next.jumped ? next : { ...next, jumped };
}

function jumpOf({ moment }: PlaybackState, action: Action): PlaybackState['jumped'] {
  switch (action.type) {
    case 'divergence':
    case 'long_wait':
    case 'loss':
      return { what: action.type, from: moment };
    case 'align':
      return action.asked === true ? { what: 'align', from: moment } : null;
    default:
      return null;
  }
}

function act(state: PlaybackState, action: Action, world: World): PlaybackState {
  switch (action.type) {
    case 'play':
      return play({ ...state, direction: action.direction ?? state.direction }, world);
    case 'pause':
      return { ...state, mode: 'paused' };
    case 'veil':
      return { ...state, veiled: action.veiled };
    case 'resume':
      return { ...state, mode: 'scope', direction: 1 };
    case 'scope':
      return rearm({ ...state, mode: 'scope', direction: 1, follows: true, armed: false }, world);
    case 'seek':
      return jump(state, action.moment, world);
    case 'window':
      return moveWindow(state, action.start, action.span ?? state.span, world);
    case 'view':
      return view(state, action.start, action.span, world);
    case 'zoom':
      return zoom(state, action.factor, world);
    case 'speed':
      return { ...state, speed: clampSpeed(action.speed) };
    case 'reverse':
      return { ...state, mode: 'play', direction: state.direction === 1 ? -1 : 1 };
    case 'beat':
      return stepTo(state, world, (i) =>
        beatAfter(i, state.offset, state.moment, action.direction),
      );
    case 'event':
      return stepTo(state, world, (i) =>
        eventAfter(i, state.offset, state.moment, action.direction),
      );
    case 'long_wait':
    case 'divergence':
    case 'loss': {
      const t = world.index && targetOf(action.type, state, world.index);
      // A jump without a destination leaves playback unchanged, and a sentence explains the reason.
      return t === null ? state : jump(state, t, world);
    }
    case 'look':
      return look(state, action, world);
    case 'align':
      return realign({ ...state, alignment: action.alignment, nth: action.nth ?? null }, world);
    case 'select':
      return { ...state, selection: action.mark };
    case 'focus':
      return { ...state, focus: new Set(action.kinds) };
    case 'place':
      return toPlace(state, action, world);
    default:
      return assertNever(action);
  }
}

/** Return the state after `dtMs` of real time has passed. */
export function advance(state: PlaybackState, dtMs: number, world: World): PlaybackState {
  // A covered stage does not play, but the oscilloscope still waits for its first window.
  if (state.veiled && (state.mode !== 'scope' || state.armed)) return state;
  switch (state.mode) {
    case 'paused':
      return state;
    case 'scope':
      return advanceScope(state, dtMs, world);
    case 'play':
      return world.reduced ? beatAlong(state, dtMs, world) : advancePlay(state, dtMs, world);
    default:
      return assertNever(state.mode);
  }
}

function toPlace(
  state: PlaybackState,
  action: Extract<Action, { type: 'place' }>,
  world: World,
): PlaybackState {
  const { place } = action;
  const still = action.paused === true || (world.reduced && !place.follows);
  return realign(
    {
      ...state,
      mode: action.paused === true ? 'paused' : 'scope',
      start: place.start,
      span: place.span,
      moment: still ? place.moment : (place.begin ?? place.start),
      speed: speedFor(place.span, action.seconds),
      direction: 1,
      focus: new Set(action.focus),
      hold: action.hold ?? false,
      selection: null,
      follows: place.follows,
      armed: place.known,
      heldMs: 0,
      sinceBeatMs: 0,
    },
    world,
  );
}

function end(state: PlaybackState, world: World): number {
  return world.index === null ? 0 : frameEnd(world.index, state.offset);
}

function clampMoment(state: PlaybackState, t: number, world: World): Nanos {
  return ns(Math.max(0, Math.min(t, Math.max(0, end(state, world)))));
}

function play(state: PlaybackState, world: World): PlaybackState {
  const limit = end(state, world);
  if (state.direction < 0) {
    // Backward playback that starts at the beginning of the run continues from its end.
    const from = state.moment <= 0 ? jump(state, limit, world) : state;
    return { ...from, mode: 'play' };
  }
  const atEnd = state.moment >= limit && !(world.index?.live ?? false);
  const from = atEnd ? { ...state, moment: ns(0), start: ns(0) } : state;
  return { ...from, mode: 'play' };
}

function look(
  state: PlaybackState,
  to: { readonly start: number; readonly span: number; readonly moment: number },
  world: World,
): PlaybackState {
  const span = Math.max(leastSpan, Math.min(mostSpan, to.span));
  const start = ns(Math.max(0, to.start));
  // While events are still arriving, the moment of a link can be later than the known data.
  const coming = world.index?.reading === 'coming';
  const moment = coming ? ns(Math.max(0, to.moment)) : clampMoment(state, to.moment, world);
  return { ...state, mode: 'paused', start, span, moment, armed: true, heldMs: 0 };
}

/**
 * Move the moment, and also the window if the moment lies outside. Starts and lengths of windows are whole ns, as in
 * links.
 */
function jump(state: PlaybackState, t: number, world: World): PlaybackState {
  const moment = clampMoment(state, t, world);
  const inside = moment >= state.start && moment <= state.start + state.span;
  const start = inside ? state.start : ns(Math.round(Math.max(0, moment - state.span * 0.4)));
  return { ...state, mode: 'paused', moment, start, armed: true, heldMs: 0 };
}

function moveWindow(
  state: PlaybackState,
  start: number,
  span: number,
  world: World,
): PlaybackState {
  const limit = Math.max(0, end(state, world) - span * 0.1);
  const at = ns(Math.max(0, Math.min(start, limit)));
  const wide = Math.max(leastSpan, Math.min(mostSpan, span));
  const share = (state.moment - state.start) / state.span;
  const moment = clampMoment(state, at + share * wide, world);
  return realign(
    { ...state, mode: 'paused', start: at, span: wide, moment, armed: true, heldMs: 0 },
    world,
  );
}

/**
 * Set a window by hand. The alignment does not change, so that nothing moves under the pointer. If the window is moved,
 * the moment moves with it. If the window's length changes, a visible moment stays unchanged.
 */
function view(state: PlaybackState, start: number, span: number, world: World): PlaybackState {
  const wide = Math.round(Math.max(leastSpan, Math.min(mostSpan, span)));
  const limit = Math.max(0, end(state, world) - wide * 0.1);
  const at = ns(Math.round(Math.max(0, Math.min(start, limit))));
  // Windows start at whole ns, but moments need not be whole ns.
  const inside = state.moment >= at - 1 && state.moment <= at + wide + 1;
  const stays = wide !== Math.round(state.span) && inside;
  const share = Math.max(0, Math.min(1, (state.moment - state.start) / state.span));
  const moment = stays ? state.moment : clampMoment(state, at + share * wide, world);
  return { ...state, mode: 'paused', start: at, span: wide, moment, armed: true, heldMs: 0 };
}

function zoom(state: PlaybackState, factor: number, world: World): PlaybackState {
  const span = Math.round(Math.max(leastSpan, Math.min(mostSpan, state.span * factor)));
  const share = (state.moment - state.start) / state.span;
  const start = ns(Math.round(Math.max(0, state.moment - share * span)));
  return {
    ...state,
    mode: state.mode === 'scope' ? 'paused' : state.mode,
    start,
    span,
    moment: clampMoment(state, state.moment, world),
  };
}

function stepTo(
  state: PlaybackState,
  world: World,
  where: (index: RunIndex) => Nanos | null,
): PlaybackState {
  const t = world.index === null ? null : where(world.index);
  return t === null ? { ...state, mode: 'paused' } : jump(state, t, world);
}

function targetOf(
  what: 'long_wait' | 'divergence' | 'loss',
  { offset, moment }: PlaybackState,
  index: RunIndex,
): Nanos | null {
  if (what === 'divergence') return firstDivergence(index, offset);
  if (what === 'loss') return nextLoss(index, offset, moment);
  return nextLongWait(index, offset, moment)?.t0 ?? null;
}

function realign(state: PlaybackState, world: World): PlaybackState {
  if (world.index === null) return state;
  const { alignment, start, span, nth } = state;
  const operation = operationOf(world.index, alignment, start + span / 2, nth);
  const { offsets } = together(world.index, alignment, operation);
  return { ...state, operation, offset: offsets };
}

/**
 * Recompute the offsets after more events have arrived, because a lane may now have the operation that it lacked
 * before.
 */
export function renew(state: PlaybackState, world: World): PlaybackState {
  if (world.index === null || state.alignment === 'time') return state;
  const { offsets } = together(world.index, state.alignment, state.operation);
  const { offset } = state;
  const same =
    offsets.size === offset.size && [...offsets].every(([arm, t]) => offset.get(arm) === t);
  return same ? state : { ...state, offset: offsets };
}

/** Start the oscilloscope's next window. */
function rearm(state: PlaybackState, world: World): PlaybackState {
  const again: PlaybackState = { ...state, heldMs: 0, sinceBeatMs: 0, moment: state.start };
  const { index } = world;
  if (index === null || (!state.follows && state.armed)) return again;
  const step = stepOf(index, state.span);
  const old = { start: state.start, span: state.span };
  const next =
    index.live || !state.armed
      ? newestEpisode(index, state.span, step, state.offset)
      : nextEpisode(index, old, state.offset);
  if (next === null) return { ...again, armed: false };
  return realign({ ...again, start: next.start, moment: next.start, armed: true }, world);
}

function advanceScope(state: PlaybackState, dtMs: number, world: World): PlaybackState {
  if (!state.armed) return rearm(state, world);
  const last = state.start + state.span;
  if (state.moment >= last) {
    const heldMs = state.heldMs + dtMs;
    return heldMs < holdMs ? { ...state, heldMs } : rearm(state, world);
  }
  if (world.reduced) return beatAlong(state, dtMs, world);
  const moment = ns(Math.min(last, state.moment + state.speed * dtMs * millisecond));
  return { ...state, moment };
}

/** With reduced motion, move from beat to beat at intervals. After the last beat, move to the end of the window. */
function beatAlong(state: PlaybackState, dtMs: number, world: World): PlaybackState {
  const sinceBeatMs = state.sinceBeatMs + dtMs;
  if (sinceBeatMs < beatMs || world.index === null) return { ...state, sinceBeatMs };
  const last = state.start + state.span;
  const gap = (state.span / 12) * state.direction;
  const next = beatAfter(world.index, state.offset, state.moment + gap, state.direction);
  if (state.mode === 'scope') {
    return { ...state, sinceBeatMs: 0, moment: ns(Math.min(last, next ?? last)) };
  }
  if (next === null) return { ...state, mode: 'paused', sinceBeatMs: 0 };
  return turnPage({ ...state, sinceBeatMs: 0, moment: next });
}

function advancePlay(state: PlaybackState, dtMs: number, world: World): PlaybackState {
  const wanted = state.moment + state.direction * state.speed * dtMs * millisecond;
  const moment = clampMoment(state, wanted, world);
  const stopped = moment !== wanted && !(state.direction > 0 && (world.index?.live ?? false));
  return turnPage({ ...state, moment, mode: stopped ? 'paused' : 'play' });
}

/** Move the window by its own length, like turning a page, so that the picture does not slide. */
function turnPage(state: PlaybackState): PlaybackState {
  const { moment, start, span } = state;
  if (moment > start + span) {
    return { ...state, start: ns(start + Math.floor((moment - start) / span) * span) };
  }
  if (moment < start) {
    return { ...state, start: ns(Math.max(0, start - Math.ceil((start - moment) / span) * span)) };
  }
  return state;
}

/** The frame that views draw. */
export function frameOf(state: PlaybackState): Frame {
  const { moment, start, span, offset, selection, focus, alignment, operation, hold } = state;
  return {
    axis: alignment === 'operation' ? 'operation' : 'time',
    moment,
    start,
    span,
    offset,
    aligned: { by: alignment, n: operation },
    selection,
    focus,
    reveal: 'moment',
    hold,
  };
}
