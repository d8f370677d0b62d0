// SPDX-License-Identifier: GPL-2.0-or-later
/** Guides are of visits alone: times of traced runs lie on no straight line. */

import { lightTheme } from '@page/base/theme.ts';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { CostChart, type CostPoint, type Measure } from './cost-panel.tsx';

const point = (arm: string, n: number, visits: number): CostPoint => ({
  run: 'r',
  arm,
  n,
  visits,
  passes: 1,
  ns: visits * 500,
  source: 'recorded',
  clock: 'count',
});
const points = [point('before', 56, 4332), point('before', 6, 532), point('after', 56, 57)];

function drawn(measure: Measure): string {
  const props = { points, measure, references: [], theme: lightTheme, at: null };
  return renderToStaticMarkup(<CostChart {...props} title={(arm) => arm} />);
}
const dashed = (html: string) => html.match(/stroke-dasharray/g)?.length ?? 0;

test('visits have a guide for each arm, and times have none and say no power of n', () => {
  expect([dashed(drawn('visits')), dashed(drawn('ns'))]).toEqual([2, 0]);
  expect(drawn('visits')).toContain('before ~ n²');
  expect(drawn('ns')).not.toContain('~ n');
});
