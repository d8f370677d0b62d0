// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Interactive rules. A view provides pure functions of positions on a time axis. The frame (toy.tsx) draws the result
 * of these functions and handles dragging. All times are ns from the left end of the axis.
 */

import type { RunIndex } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';

/** The meaning of a colour, which is the same everywhere on the page. */
export type Face = 'work' | 'wait' | 'mechanism' | 'gain' | 'hazard' | 'idle' | 'other' | 'vain';

/** An instant, such as a step of the code or an event. */
export interface Step {
  readonly kind: 'step';
  readonly at: number;
  readonly label: string;
  /** Whether the label is code. */
  readonly code?: boolean;
  readonly face: Face;
  /** Name of the handle that moves this step; absent if the step is fixed. */
  readonly handle?: string;
  /** Whether the grip is drawn further to the right, because another grip has the same position. */
  readonly aside?: boolean;
  /** Whether the step does not happen with the current setting. */
  readonly off?: boolean;
}

/** A bar, which stands for something that takes time. */
export interface Stretch {
  readonly kind: 'stretch';
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly face: Face;
  readonly look: 'solid' | 'hatched' | 'hollow';
  /** Whether to omit the label if it does not fit into the bar. Such a label also appears in another place. */
  readonly terse?: boolean;
  /** Name of the handle that moves this bar. */
  readonly handle?: string;
}

export type Item = Step | Stretch;

/** A row of the picture: an actor, such as a CPU, and its actions. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** The result of the rule for this row, in a few words. */
  readonly verdict?: string;
  readonly face?: Face;
  readonly items: readonly Item[];
}

/** A moment that is marked in all rows, such as a tick. */
export interface Guide {
  readonly at: number;
  readonly label?: string;
}

/** Initial positions of all handles. */
export interface Times {
  readonly at: Readonly<Record<string, number>>;
  /** Length of the axis, ns. */
  readonly span: number;
  /** The part of the run that provides the distances; null if they are made up because there is no run. */
  readonly from: string | null;
}

/** The viewer's current setting of the rule. */
export interface Setting {
  /** Position of each handle, ns. */
  readonly at: Readonly<Record<string, number>>;
  /** Whether each switch is on. */
  readonly on: Readonly<Record<string, boolean>>;
}

export interface Handle {
  readonly name: string;
  /** Name of the handle for screen readers. */
  readonly title: string;
}

export interface Switch {
  readonly name: string;
  readonly title: string;
  readonly on: boolean;
}

/** The result of the rule for one setting. */
export interface Play {
  readonly rows: readonly Row[];
  readonly guides?: readonly Guide[];
  /** For each handle, a text that describes its current position. */
  readonly says: Readonly<Record<string, string>>;
  readonly outcome: { readonly words: string; readonly face: Face };
  /** Names of the goals that this setting reaches. */
  readonly reached: readonly string[];
}

export interface Goal {
  readonly name: string;
  readonly title: string;
  /** Tries out the rule, and returns a sentence that says whether the goal can be reached. */
  readonly can: (times: Times) => string;
}

export interface Limits {
  readonly min: number;
  readonly max: number;
}

export interface Toy {
  readonly title: string;
  /** The viewer's task, in a few sentences. `leavesOut` states what the rule omits. */
  readonly ask: string;
  readonly leavesOut: string;
  readonly handles: readonly Handle[];
  readonly switches: readonly Switch[];
  readonly goals: readonly Goal[];
  /** The distances measured in a run. If the index is null, the distances are made up. */
  readonly times: (index: RunIndex | null, lesson: Lesson) => Times;
  readonly start: (times: Times) => Setting;
  /** The range in which a handle can be moved at the current setting. */
  readonly limits: (times: Times, setting: Setting, handle: string) => Limits;
  /** Move a handle within its range, together with everything that depends on the handle. */
  readonly move: (times: Times, setting: Setting, handle: string, to: number) => Setting;
  readonly play: (times: Times, setting: Setting) => Play;
}

// State of a rule: positions, switches, and the goals reached so far. Pure.

export interface ToyState {
  readonly setting: Setting;
  /** Goals that the viewer has reached at some time. A reset of the rule clears them. */
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

/** Move every handle into its range, which a switch may have narrowed. */
function within(toy: Toy, times: Times, setting: Setting): Setting {
  return toy.handles.reduce((now, { name }) => {
    const at = now.at[name]!;
    const { min, max } = toy.limits(times, now, name);
    return at < min || at > max ? movedTo(toy, times, now, name, at) : now;
  }, setting);
}

/** Moments of all marks in ascending order, without the marks that this handle moves. */
function edges(rows: readonly Row[], handle: string): number[] {
  const all = rows.flatMap((row) =>
    row.items.flatMap((item) => {
      if (item.handle === handle) return [];
      return item.kind === 'step' ? [item.at] : [item.from, item.to];
    }),
  );
  return [...new Set(all)].sort((a, b) => a - b);
}

/**
 * Number of key presses from one end of the axis to the other. Where moments are close together, more key presses are
 * needed.
 */
const keySteps = 60;

/**
 * The next position after a key press, usually one step further. If the middle between two moments is nearer than a
 * step, the next position is this middle. A viewer can therefore create every order of the marks with the keys.
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
 * If two moments are closer than `reach` (ns), snap a pointer near them to the middle between them. Otherwise the
 * pointer could not hit the gap.
 */
export function snapMoment(play: Play, handle: string, t: number, reach: number): number {
  const moments = edges(play.rows, handle);
  for (const [i, next] of moments.slice(1).entries()) {
    const middle = (moments[i]! + next) / 2;
    if (next - moments[i]! < reach && Math.abs(t - middle) < reach / 2) return middle;
  }
  return t;
}
