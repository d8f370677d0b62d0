// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { fitting } from './paints.ts';

const pen = { measureText: (text: string) => ({ width: text.length * 10 }) };

test('the longest wording that has room; without any, the shortest', () => {
  expect(fitting(pen, ['abcd', 'abc', 'a'], 40)).toBe('abcd');
  expect(fitting(pen, ['abcd', 'abc', 'a'], 39)).toBe('abc');
  expect(fitting(pen, ['abcd', 'abc', 'a'], 5)).toBe('a');
  expect(fitting(pen, [], 5)).toBe('');
});
