// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests the times of a lane's ticks, which come from the lane's clock or from recorded steps. */

import { expect, test } from 'vitest';
import { gridOfTicks, phaseOf } from './tick-marks.ts';

const ms = (times: readonly number[]) => times.map((t) => t * 1e6);
const late = [0.02, 0.05, 0.03, 0.06, 0.02, 0.04, 0.03, 0.05, 0.3, 0.02, 0.9, 0.04, 1.7];

test("a tick's phase is the early edge of what ticks begin, also across the wrap", () => {
  const times = late.map((x, i) => i * 4 + 3.98 + x);
  expect(phaseOf(ms(times), 4e6)! / 1e6).toBeCloseTo(0, 1);
});

test('it is unknown where too few times were seen, or where they do not agree', () => {
  expect(phaseOf(ms(late.slice(0, 8)), 4e6)).toBeNull();
  const spread = Array.from({ length: 40 }, (_, i) => (i * 7.3) % 4);
  expect(phaseOf(ms(spread), 4e6)).toBeNull();
});

test('the grid is that of the guest’s clock, where recorded steps do not say otherwise', () => {
  const tick = 4e6;
  const start = 1_000_000_000 - 1_500_000;
  expect(gridOfTicks(start, [], tick)).toEqual({ at: 1_500_000, every: tick });
  const behind = (by: number) => ms(late.map((x, i) => i * 4 + 1.5 + by + x));
  expect(gridOfTicks(start, behind(0.3), tick)?.at).toBe(1_500_000);
  // A kernel can place its ticks by another rule, so the recorded steps decide.
  expect(gridOfTicks(start, behind(2), tick)?.at).toBeCloseTo(3_520_000, -5);
  expect(gridOfTicks(null, behind(2), tick)?.at).toBeCloseTo(3_520_000, -5);
  expect(gridOfTicks(null, [], tick)).toBeNull();
  expect(gridOfTicks(8e6, [], tick)?.at).toBe(0);
});
