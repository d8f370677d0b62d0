// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What a toy is: a rule that a viewer plays with. A view gives pure functions of positions on a line of time; the
 * frame (toy.tsx) draws what they say and moves what may be moved. All times are ns from the left end.
 */

import type { RunIndex } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';

/** One meaning per colour, as everywhere. */
export type Face = 'work' | 'wait' | 'mechanism' | 'gain' | 'hazard' | 'idle' | 'other' | 'vain';

/** Something that takes no time: a step of the code, an event. */
export interface Step {
  readonly kind: 'step';
  readonly at: number;
  readonly label: string;
  /** The words are code. */
  readonly code?: boolean;
  readonly face: Face;
  /** The handle that moves it; without one it stands. */
  readonly handle?: string;
  /** Its grip stands to the right, for another one has the place. */
  readonly aside?: boolean;
  /** It does not happen as things stand. */
  readonly off?: boolean;
}

/** Something that lasts. */
export interface Stretch {
  readonly kind: 'stretch';
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly face: Face;
  readonly look: 'solid' | 'hatched' | 'hollow';
  /** Its words are left out where they do not fit into it: they stand elsewhere, too. */
  readonly terse?: boolean;
  /** The handle that moves it as a whole. */
  readonly handle?: string;
}

export type Item = Step | Stretch;

/** A lane: who does it, and what. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** What comes of it on this lane, in a few words. */
  readonly verdict?: string;
  readonly face?: Face;
  readonly items: readonly Item[];
}

/** A moment that all rows have, such as a tick. */
export interface Guide {
  readonly at: number;
  readonly label?: string;
}

/** Where steps stand. */
export interface Times {
  readonly at: Readonly<Record<string, number>>;
  /** Length of the line, ns. */
  readonly span: number;
  /** What in the run the distances are those of; null: no run has them, and they are chosen. */
  readonly from: string | null;
}

/** What a viewer has set. */
export interface Setting {
  /** Handle -> ns. */
  readonly at: Readonly<Record<string, number>>;
  /** Switch -> whether it is on. */
  readonly on: Readonly<Record<string, boolean>>;
}

export interface Handle {
  readonly name: string;
  /** What is moved, in words: the name of its slider. */
  readonly title: string;
}

export interface Switch {
  readonly name: string;
  readonly title: string;
  readonly on: boolean;
}

/** What the rule makes of a setting. */
export interface Play {
  readonly rows: readonly Row[];
  readonly guides?: readonly Guide[];
  /** Handle -> what its place means now. */
  readonly says: Readonly<Record<string, string>>;
  readonly outcome: { readonly words: string; readonly face: Face };
  /** Names of the goals that this setting reaches. */
  readonly reached: readonly string[];
}

export interface Goal {
  readonly name: string;
  readonly title: string;
  /** Whether it can be reached at all, by the rule itself: tried, not believed. */
  readonly can: (times: Times) => string;
}

export interface Limits {
  readonly min: number;
  readonly max: number;
}

export interface Toy {
  readonly title: string;
  /** What to do, and what the rule leaves out: a few sentences. */
  readonly ask: string;
  readonly leavesOut: string;
  readonly handles: readonly Handle[];
  readonly switches: readonly Switch[];
  readonly goals: readonly Goal[];
  /** Distances out of a run; null: there is none. */
  readonly times: (index: RunIndex | null, lesson: Lesson) => Times;
  readonly start: (times: Times) => Setting;
  /** Where a handle may stand as things are. */
  readonly limits: (times: Times, setting: Setting, handle: string) => Limits;
  /** A handle moved within its limits, and what moves with it. */
  readonly move: (times: Times, setting: Setting, handle: string, to: number) => Setting;
  readonly play: (times: Times, setting: Setting) => Play;
}

// What a viewer has done to a toy: positions, switches, goals reached so far. Pure.

export interface ToyState {
  readonly setting: Setting;
  /** Goals once reached stay so until reset. */
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

/** Every handle back into its limits, which a switch may have narrowed. */
function within(toy: Toy, times: Times, setting: Setting): Setting {
  return toy.handles.reduce((now, { name }) => {
    const at = now.at[name]!;
    const { min, max } = toy.limits(times, now, name);
    return at < min || at > max ? movedTo(toy, times, now, name, at) : now;
  }, setting);
}

/** Moments that the rows have, but for those that the handle itself moves; rising. */
function edges(rows: readonly Row[], handle: string): number[] {
  const all = rows.flatMap((row) =>
    row.items.flatMap((item) => {
      if (item.handle === handle) return [];
      return item.kind === 'step' ? [item.at] : [item.from, item.to];
    }),
  );
  return [...new Set(all)].sort((a, b) => a - b);
}

/** So many steps of a key lead from one end to the other, and more where moments are close together. */
const keySteps = 60;

/**
 * Where a press of a key moves a handle: to the next place of an even grid, or between two moments where these are
 * closer together than that; so that keys reach every order of the steps.
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
 * Where a pointer lets a handle stand: in the middle between two moments that are closer together than `reach` (ns),
 * if it comes so near; a hand could not hit that otherwise.
 */
export function caught(play: Play, handle: string, t: number, reach: number): number {
  const moments = edges(play.rows, handle);
  for (const [i, next] of moments.slice(1).entries()) {
    const middle = (moments[i]! + next) / 2;
    if (next - moments[i]! < reach && Math.abs(t - middle) < reach / 2) return middle;
  }
  return t;
}
