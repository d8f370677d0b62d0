// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { clockOf } from './talk.ts';

test('the clock of a talk goes on when its slides are left and opened again, and each lesson has its own', () => {
  clockOf('a', 1000);
  expect(clockOf('a', 61_000).get()).toBe(1000);
  expect(clockOf('b', 2000).get()).toBe(2000);
  clockOf('a', 0).set(90_000);
  expect(clockOf('a', 95_000).get()).toBe(90_000);
});
