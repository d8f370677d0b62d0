// SPDX-License-Identifier: GPL-2.0-or-later
/** The phase of a lane's ticks. */

import { expect, test } from 'vitest';
import { phaseOf } from './tick-phase.ts';

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
