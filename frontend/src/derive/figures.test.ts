// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures are frozen while a picture moves. */

import { expect, test } from 'vitest';
import { ns } from '../base/units.ts';
import { collect, figure, frozenText, withFrozenFigures } from './figures.ts';
import type { Mark } from './types.ts';

const visits = (n: number) => `made ${figure('far', 'stock', 'visits', n, `${n} visits`)}`;
const bare = (n: number) => figure('far', 'stock', 'visits', n);

test('a figure keeps its text until texts are new; what is new goes in', () => {
  const texts = new Map<string, string>();
  expect(withFrozenFigures(texts, () => [visits(65), bare(65)])).toEqual(['made 65 visits', '65']);
  expect(withFrozenFigures(texts, () => [visits(71), bare(71), frozenText('ops', '3')])).toEqual([
    ...['made 65 visits', '65', '3'],
  ]);
  expect(withFrozenFigures(new Map(), () => visits(71))).toBe('made 71 visits');
  expect(visits(80)).toBe('made 80 visits');
});

test('lanes, scopes and marks are different figures; one number in two forms has two texts', () => {
  const mark = (id: number): Mark => ({
    ...{ arm: 'stock', table: 'spans', row: 0, kind: 1, t0: ns(0), t1: ns(9) },
    id,
  });
  const texts = new Map<string, string>();
  const all = (n: number) => [
    figure('far', 'stock', 'ops', n),
    figure('far', 'other', 'ops', n + 1),
    figure('run', 'stock', 'ops', n + 2),
    figure('mark', 'stock', 'length', n + 3, `${n + 3} µs`, mark(1)),
    figure('mark', 'stock', 'length', n + 4, `${n + 4} µs`, mark(2)),
  ];
  const first = withFrozenFigures(texts, () => all(10));
  expect(first).toEqual(['10', '11', '12', '13 µs', '14 µs']);
  expect(withFrozenFigures(texts, () => all(50))).toEqual(first);
});

test('what is collected is the value of the moment, whatever text stands', () => {
  const texts = new Map<string, string>();
  withFrozenFigures(texts, () => visits(65));
  const { figures } = withFrozenFigures(texts, () => collect(() => visits(71)));
  expect(figures.map(({ value }) => value)).toEqual([71]);
});
