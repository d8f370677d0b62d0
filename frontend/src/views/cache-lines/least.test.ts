// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { layoutLines, leastHeight } from './layout.ts';

const foot = (input: Parameters<typeof layoutLines>[0]) =>
  Math.max(...layoutLines(input).lanes.map(({ order }) => order.y + order.h));

test('at its least height a picture ends before its foot, at any width', () => {
  for (const width of [340, 560, 900, 1400])
    for (const arms of [['a'], ['a', 'b']]) {
      const size = { width, height: 200, dpr: 1 };
      const input = { arms, lines: 3, cpus: 2, size, headerHeight: 34, fontSize: 13 };
      const height = leastHeight(input);
      expect(foot({ ...input, size: { ...size, height } })).toBeLessThanOrEqual(height);
      expect(foot(input)).toBeGreaterThan(200);
    }
});
