// SPDX-License-Identifier: GPL-2.0-or-later
/** A wait is the rest of one grace period, the whole of the next, and the time until its sleeper runs. */

import { expect, test } from 'vitest';
import { partsOf } from './draw-bands.ts';

const graces = { begins: Float64Array.of(0, 10, 30), ends: Float64Array.of(10, 20, 40) };
const plain = (t0: number, t1: number) =>
  partsOf(graces, t0, t1).map((part) => [part.nth, part.t0, part.t1]);

test('a wait that begins inside a grace period has all three', () => {
  expect(plain(4, 23)).toEqual([
    [1, 4, 10],
    [2, 10, 20],
    [3, 20, 23],
  ]);
});

test('one that begins between two has no rest, and one that ends with its own is woken at once', () => {
  expect(plain(25, 42)).toEqual([
    [2, 25, 40],
    [3, 40, 42],
  ]);
  expect(plain(4, 20)).toEqual([
    [1, 4, 10],
    [2, 10, 20],
  ]);
});

test('of a wait that is not over, or in which none ended, nothing is said', () => {
  expect(plain(4, 9)).toEqual([]);
});
