// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { signsShown } from './legend.tsx';

test('three rows stand as they are; of more, the first two are shown', () => {
  expect(signsShown([])).toBeNull();
  expect(signsShown([0, 0, 20, 20, 40])).toBeNull();
  expect(signsShown([0, 0, 0, 20, 20, 40, 60])).toBe(5);
  expect(signsShown([0, 20, 40, 60])).toBe(2);
});

test('what is not the lesson waits for a press, also where there is room', () => {
  expect(signsShown([8, 8, 8, 8], 3)).toBe(3);
  expect(signsShown([8, 8, 30, 30, 52, 74], 5)).toBe(4);
  expect(signsShown([8, 8], 0)).toBeNull();
});
