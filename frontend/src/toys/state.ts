// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer has done to a toy: positions, switches, goals reached so far. Pure. */

import type { Play, Row, Setting, Times, Toy } from './types.ts';

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
