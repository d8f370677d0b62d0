// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { edgesOf } from './region.ts';

const edges = (picture: readonly string[]) =>
  edgesOf(picture.length, picture[0]!.length, (row, col) => picture[row]![col] === '#').map(
    ({ c0, r0, c1, r1 }) => [c0, r0, c1, r1].join(' '),
  );

test('a block has four edges, each in one piece', () => {
  expect(edges(['....', '.##.', '.##.'])).toEqual(['1 1 3 1', '1 3 3 3', '1 1 1 3', '3 1 3 3']);
});

test('a stepped block, as a walk leaves it in the middle of a row', () => {
  expect(edges(['###', '#..'])).toEqual([
    '0 0 3 0',
    '1 1 3 1',
    '0 2 1 2',
    '0 0 0 2',
    '1 1 1 2',
    '3 0 3 1',
  ]);
});

test('nothing has none', () => expect(edges(['..', '..'])).toEqual([]));
