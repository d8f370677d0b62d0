// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy shares the CPU as the kernels do: in turns, fairly, and a shorter slice preempts. */

import { millisecond } from '@page/base/units.ts';
import { begin, changed } from '@page/toys/types.ts';
import { expect, test } from 'vitest';
import { type Case, courseOf, hogs, interruptions, turns } from './toy.ts';

const hogSlice = 20 * millisecond;
const span = 5 * hogSlice;

function* cases(): Generator<Case> {
  for (const slice of [1, 5, 20, 30])
    for (const job of [1, 10, 25])
      for (let wake = 1; wake < 60; wake += 1.5)
        yield {
          wake: wake * millisecond,
          job: job * millisecond,
          slice: slice * millisecond,
          hogSlice,
        };
}
const all = [...cases()];

test('the CPU is never idle, and no two tasks run at once', () => {
  for (const one of all)
    for (const policy of ['protect', 'preempt'] as const) {
      const { turns: found } = courseOf(policy, one, span);
      expect(found[0]!.from).toBe(0);
      expect(found.at(-1)!.to).toBe(span);
      found.slice(1).forEach((turn, i) => {
        expect(turn.from).toBe(found[i]!.to);
      });
    }
});

test('a shorter slice runs at once where short preempts, and never later than with protection', () => {
  for (const one of all) {
    const [protect, preempt] = [courseOf('protect', one, span), courseOf('preempt', one, span)];
    if (one.slice < hogSlice) expect(preempt.begins - one.wake).toBeLessThan(0.1 * millisecond);
    expect(preempt.begins).toBeLessThanOrEqual(protect.begins);
  }
});

test('a slice that is not shorter does not make the player run earlier', () => {
  for (const one of all) {
    const [protect, preempt] = [courseOf('protect', one, span), courseOf('preempt', one, span)];
    if (one.slice >= hogSlice) expect(preempt.begins).toBe(protect.begins);
    if (one.slice === hogSlice) expect(preempt).toEqual(protect);
  }
});

test('a player with a long job gets no more than its share', () => {
  for (const slice of [1, 5]) {
    const one = { wake: 0.5 * hogSlice, job: span, slice: slice * millisecond, hogSlice };
    const course = courseOf('preempt', one, 4 * span);
    const had = course.turns.reduce(
      (sum, { hog, from, to }) => sum + (hog === null ? to - from : 0),
      0,
    );
    expect(had).toBeLessThan((4 * span) / (hogs + 1) + slice * millisecond);
    expect(interruptions(course)).toBeGreaterThan(0);
  }
});

test('every goal can be reached by moves', () => {
  const times = turns.times(null, {} as never);
  const unit = times.at['hog']!;
  const reached = new Set<string>();
  for (let k = 1; k < 40; k++)
    for (const slice of [0.1, 1.2])
      for (const job of [0.1, 1.4]) {
        let state = begin(turns, times);
        state = changed(turns, times, state, { do: 'move', handle: 'wake', to: (k / 20) * unit });
        const wake = state.setting.at['wake']!;
        for (const [handle, to] of [
          ['deadline', slice],
          ['end', job],
        ] as const)
          state = changed(turns, times, state, { do: 'move', handle, to: wake + to * unit });
        for (const name of state.reached) reached.add(name);
      }
  expect([...reached].sort()).toEqual(turns.goals.map((goal) => goal.name).sort());
});
