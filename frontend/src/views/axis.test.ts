// SPDX-License-Identifier: GPL-2.0-or-later
/** Ticks are round numbers, have room for their labels, and have only as many decimal places as they need to differ. */

import { expect, test } from 'vitest';
import { countTicks, msTicks, runTicks } from './axis.ts';

const labels = (ticks: readonly { readonly label: string }[]) => ticks.map(({ label }) => label);
const window = (start: number, span: number) => ({ start, span, left: 100, right: 900 });

test('ticks of a window are round and never closer than their words need', () => {
  for (const span of [1e3, 7e3, 33e3, 2e6, 30e6, 412e6, 5e9, 110e9]) {
    const ticks = msTicks(window(span * 3.3, span), 76);
    expect(ticks.length, `${span}`).toBeGreaterThan(1);
    const gaps = ticks.slice(1).map((tick, i) => tick.x - ticks[i]!.x);
    expect(Math.min(...gaps), `${span}`).toBeGreaterThanOrEqual(76);
    expect(ticks[0]!.x).toBeGreaterThanOrEqual(99.5);
    expect(ticks.at(-1)!.x).toBeLessThanOrEqual(900.5);
  }
});

test('words have the places that tell them apart, and zero is no negative zero', () => {
  expect(labels(msTicks(window(0, 2e6), 160))).toEqual(['0.0', '0.5', '1.0', '1.5', '2.0']);
  expect(labels(msTicks(window(-0, 40e6), 160))).toEqual(['0', '10', '20', '30', '40']);
  expect(labels(msTicks(window(1_000e6, 2e3), 160))[1]).toBe('1,000.0005');
});

test('where lines of a grid are drawn, words stand on lines of it', () => {
  const ticks = labels(msTicks(window(1000e6, 60e6), 76, 4e6)).map(Number);
  const bare = ticks.map((t) => (Number.isNaN(t) ? 0 : t % 4));
  expect(new Set(bare)).toEqual(new Set([0]));
  // In a wide window the lines are not drawn, and labels are round numbers.
  expect(labels(msTicks(window(0, 1e9), 100, 4e6))).toContain('200');
});

test('a run has at most about six ticks, in s from two seconds on', () => {
  expect(labels(runTicks(1.1e9, 0, 900, 80))).toEqual([
    '0 ms',
    '200 ms',
    '400 ms',
    '600 ms',
    '800 ms',
    '1,000 ms',
  ]);
  expect(labels(runTicks(4e9, 0, 900, 80))).toEqual(['0 s', '1 s', '2 s', '3 s', '4 s']);
  expect(labels(runTicks(4e9, 0, 200, 80))).toEqual(['0 s', '2 s', '4 s']);
});

test('counts have whole ticks', () => {
  expect(labels(countTicks(3, 0, 900, 60))).toEqual(['0', '1', '2', '3']);
  expect(labels(countTicks(3520, 0, 300, 60))).toEqual(['0', '1,000', '2,000', '3,000']);
});
