// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import type { Lesson } from '../protocol/lesson.ts';
import { inTitles } from './arm-titles.ts';

const arms = [
  { name: 'before', title: 'list walk' },
  { name: 'srcu', title: 'SRCU' },
  { name: 'srcu-expedited', title: 'SRCU expedited' },
] as unknown as Lesson['arms'];
const said = (sentence: string) => inTitles({ arms }, sentence);

it('a verdict names kernels by their titles, the longest name first', () => {
  expect(
    said('srcu -89.9 % against before, worse (n = 5). srcu-expedited against before: no.'),
  ).toBe('SRCU -89.9 % against list walk, worse (n = 5). SRCU expedited against list walk: no.');
});

it('a plain word stays one, and no part of another name is taken for one', () => {
  expect(said('srcu-delayed was measured before; the srcu of it too')).toBe(
    'srcu-delayed was measured before; the srcu of it too',
  );
  expect(inTitles({ arms: [] }, 'srcu against before')).toBe('srcu against before');
});
