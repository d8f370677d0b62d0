// SPDX-License-Identifier: GPL-2.0-or-later
/** The phase of a lane's ticks. */

import { expect, test } from 'vitest';
import { phaseOf } from './ticks.ts';

const ms = 1e6;

test("a tick's phase is the early edge of what ticks begin, also across the wrap", () => {
  const late = [0.02, 0.05, 0.03, 0.06, 0.02, 0.04, 0.3].map((x) => (3.98 + x) % 4);
  expect(
    phaseOf(
      late.map((x) => x * ms),
      4 * ms,
    )! / ms,
  ).toBeCloseTo(0, 1);
  expect(
    phaseOf(
      [0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5].map((x) => x * ms),
      4 * ms,
    ),
  ).toBeNull();
  expect(
    phaseOf(
      [1, 1, 1].map((x) => x * ms),
      4 * ms,
    ),
  ).toBeNull();
});
