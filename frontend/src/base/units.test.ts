// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { formatMoment, formatNs, plural, speedWords } from './units.ts';

test('lengths of guest time are written in the unit a person would use', () => {
  expect(
    [0, 7, 850, 999.6, 14_000, 15_700, 322_000, 999_600, 5.2e6, 44e6, 1.5e9].map(formatNs),
  ).toEqual([
    '0',
    '7 ns',
    '850 ns',
    '1 µs',
    '14 µs',
    '15.7 µs',
    '322 µs',
    '1 ms',
    '5.2 ms',
    '44 ms',
    '1.5 s',
  ]);
});

test('a moment has as many places as the window can show', () => {
  expect(formatMoment(1_204_212_345, 500e6)).toBe('1,204 ms');
  expect(formatMoment(1_204_212_345, 30e6)).toBe('1,204.2 ms');
  expect(formatMoment(1_204_212_345, 1e6)).toBe('1,204.212 ms');
});

test('speed is said in words', () => {
  expect(speedWords(0.004)).toBe('1 s here = 4 ms in the guest');
  expect(speedWords(1e-6)).toBe('1 s here = 1 µs in the guest');
  expect(speedWords(1)).toBe('1 s here = 1 s in the guest');
});

test('one hog, nine hogs', () => {
  expect([plural(1, 'hog'), plural(9, 'hog'), plural(1204, 'umount')]).toEqual([
    '1 hog',
    '9 hogs',
    '1,204 umounts',
  ]);
});
