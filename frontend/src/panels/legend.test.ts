// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { signsShown } from './legend.tsx';

test('three rows stand as they are; of more, the first two are shown', () => {
  expect(signsShown([])).toBeNull();
  expect(signsShown([0, 0, 20, 20, 40])).toBeNull();
  expect(signsShown([0, 0, 0, 20, 20, 40, 60])).toBe(5);
  expect(signsShown([0, 20, 40, 60])).toBe(2);
});
