// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Interactive rules. A view provides pure functions of positions on a time axis; the frame (toy.tsx) draws the result
 * and handles dragging. All times are ns from the left end.
 */

import type { RunIndex } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';

/** One meaning per colour, as on the whole page. */
export type Face = 'work' | 'wait' | 'mechanism' | 'gain' | 'hazard' | 'idle' | 'other' | 'vain';

/** An instant: a step of the code, or an event. */
export interface Step {
  readonly kind: 'step';
  readonly at: number;
  readonly label: string;
  /** The words are code. */
  readonly code?: boolean;
  readonly face: Face;
  /** The handle that moves it; absent: fixed. */
  readonly handle?: string;
  /** Its grip is drawn to the right, because another grip is at its position. */
  readonly aside?: boolean;
  /** It does not happen with the current setting. */
  readonly off?: boolean;
}

/** A bar: something with a duration. */
export interface Stretch {
  readonly kind: 'stretch';
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly face: Face;
  readonly look: 'solid' | 'hatched' | 'hollow';
  /** Omit the words if they do not fit in the bar, since they also appear elsewhere. */
  readonly terse?: boolean;
  /** The handle that moves the whole bar. */
  readonly handle?: string;
}

export type Item = Step | Stretch;

/** A row: one actor and its actions. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** The result for this row, in a few words. */
  readonly verdict?: string;
  readonly face?: Face;
  readonly items: readonly Item[];
}

/** A moment that all rows share, such as a tick. */
export interface Guide {
  readonly at: number;
  readonly label?: string;
}

/** Initial positions. */
export interface Times {
  readonly at: Readonly<Record<string, number>>;
  /** Length of the axis, ns. */
  readonly span: number;
  /** The part of the run that the distances come from; null: no run, the distances are chosen. */
  readonly from: string | null;
}

/** The viewer's current setting. */
export interface Setting {
  /** Handle -> ns. */
  readonly at: Readonly<Record<string, number>>;
  /** Switch -> whether it is on. */
  readonly on: Readonly<Record<string, boolean>>;
}

export interface Handle {
  readonly name: string;
  /** Accessible name of the handle's slider. */
  readonly title: string;
}

export interface Switch {
  readonly name: string;
  readonly title: string;
  readonly on: boolean;
}

/** The rule's result for a setting. */
export interface Play {
  readonly rows: readonly Row[];
  readonly guides?: readonly Guide[];
  /** Handle -> meaning of its current position. */
  readonly says: Readonly<Record<string, string>>;
  readonly outcome: { readonly words: string; readonly face: Face };
  /** Names of the goals that this setting reaches. */
  readonly reached: readonly string[];
}

export interface Goal {
  readonly name: string;
  readonly title: string;
  /** Whether the goal is reachable, found by trying the rule. */
  readonly can: (times: Times) => string;
}

export interface Limits {
  readonly min: number;
  readonly max: number;
}

export interface Toy {
  readonly title: string;
  /** Instructions, and what the rule omits: a few sentences. */
  readonly ask: string;
  readonly leavesOut: string;
  readonly handles: readonly Handle[];
  readonly switches: readonly Switch[];
  readonly goals: readonly Goal[];
  /** Distances from a run; null: no run. */
  readonly times: (index: RunIndex | null, lesson: Lesson) => Times;
  readonly start: (times: Times) => Setting;
  /** Limits of a handle with the current setting. */
  readonly limits: (times: Times, setting: Setting, handle: string) => Limits;
  /** Move a handle within its limits, and everything that moves with it. */
  readonly move: (times: Times, setting: Setting, handle: string, to: number) => Setting;
  readonly play: (times: Times, setting: Setting) => Play;
}

// State of a rule: positions, switches, goals reached so far. Pure.

export interface ToyState {
  readonly setting: Setting;
  /** Reached goals stay until reset. */
  readonly reached: readonly string[];
}

export type ToyAction =
  | { readonly do: 'move'; readonly handle: string; readonly to: number }
  | { readonly do: 'turn'; readonly name: string }
  | { readonly do: 'reset' };

export function begin(toy: Toy, times: Times): ToyState {
  const setting = within(toy, times, toy.start(times));
  return { setting, reached: toy.play(times, setting).reached };
}

export function changed(toy: Toy, times: Times, state: ToyState, action: ToyAction): ToyState {
  if (action.do === 'reset') return begin(toy, times);
  const setting =
    action.do === 'move'
      ? movedTo(toy, times, state.setting, action.handle, action.to)
      : switched(toy, times, state.setting, action.name);
  const { reached } = toy.play(times, setting);
  return { setting, reached: [...new Set([...state.reached, ...reached])] };
}

function movedTo(toy: Toy, times: Times, setting: Setting, handle: string, to: number): Setting {
  const { min, max } = toy.limits(times, setting, handle);
  return toy.move(times, setting, handle, Math.min(max, Math.max(min, to)));
}

function switched(toy: Toy, times: Times, setting: Setting, name: string): Setting {
  return within(toy, times, { ...setting, on: { ...setting.on, [name]: !setting.on[name] } });
}

/** Clamp every handle to its limits, which a switch may have narrowed. */
function within(toy: Toy, times: Times, setting: Setting): Setting {
  return toy.handles.reduce((now, { name }) => {
    const at = now.at[name]!;
    const { min, max } = toy.limits(times, now, name);
    return at < min || at > max ? movedTo(toy, times, now, name, at) : now;
  }, setting);
}

/** Moments of the rows, except those that the handle moves, in ascending order. */
function edges(rows: readonly Row[], handle: string): number[] {
  const all = rows.flatMap((row) =>
    row.items.flatMap((item) => {
      if (item.handle === handle) return [];
      return item.kind === 'step' ? [item.at] : [item.from, item.to];
    }),
  );
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Key presses from one end to the other, plus one wherever moments are close together. */
const keySteps = 60;

/**
 * Next position for a key press: on an even grid, or between two moments that are closer than its step, so that keys
 * reach every order of the marks.
 */
export function nextStop(
  play: Play,
  times: Times,
  handle: string,
  at: number,
  direction: 1 | -1,
): number {
  const step = times.span / keySteps;
  const moments = edges(play.rows, handle);
  const between = moments.slice(1).map((t, i) => (t + moments[i]!) / 2);
  const ahead = between.filter((t) => (t - at) * direction > step / 50);
  const nearest = direction > 0 ? Math.min(...ahead) : Math.max(...ahead);
  const plain = at + direction * step;
  return (nearest - plain) * direction < 0 ? nearest : plain;
}

/**
 * Snap a pointer position: to the middle between two moments closer than `reach` (ns), which a pointer could not hit
 * otherwise.
 */
export function snapMoment(play: Play, handle: string, t: number, reach: number): number {
  const moments = edges(play.rows, handle);
  for (const [i, next] of moments.slice(1).entries()) {
    const middle = (moments[i]! + next) / 2;
    if (next - moments[i]! < reach && Math.abs(t - middle) < reach / 2) return middle;
  }
  return t;
}
