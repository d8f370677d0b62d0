// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in a low window. */

import { low, shownLow } from '@test/figures/low-window.ts';
import { type RecordedLesson, recordedLessons } from '@test/fixtures/recordings.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Layout as FlowLayout } from './layout.ts';

let recorded: RecordedLesson;
beforeAll(() => {
  recorded = recordedLessons('03-inode-recycling')[0]!;
});

describe('four lanes of inodes', () => {
  const bands = (height: number) => {
    const { layout } = shownLow(recorded, 'four', 26);
    return layout(height) as FlowLayout;
  };

  it('all fit into a low window, without the grace periods', () => {
    const { lanes, axisY } = bands(low.height);
    expect(lanes).toHaveLength(4);
    expect(axisY).toBeLessThanOrEqual(low.height - 10);
    for (const { bands: own } of lanes)
      expect(own.map(({ name }) => name)).toEqual(['thread', 'inodes', 'worker']);
  });

  it('have the grace periods where there is room', () => {
    const { lanes } = bands(700);
    expect(lanes[0]!.bands.map(({ name }) => name)).toEqual([
      'thread',
      'inodes',
      'worker',
      'grace',
    ]);
  });
});

describe('the dam', () => {
  it('has its queue, its grace periods and an axis in a low window, and its pools where there is room', () => {
    const { least, layout } = shownLow(recorded, 'dam');
    const { lanes, axisY } = layout(low.height) as FlowLayout;
    expect(least).toBeLessThanOrEqual(low.height);
    expect(axisY + 20).toBeLessThanOrEqual(low.height);
    expect(lanes.length).toBeGreaterThan(0);
    for (const { bands, bottom } of lanes) {
      const high = (name: string) => bands.find((band) => band.name === name)?.height ?? 0;
      expect(high('queue')).toBeGreaterThanOrEqual(60);
      expect(high('grace')).toBeGreaterThanOrEqual(12);
      expect(bottom).toBeLessThanOrEqual(axisY);
    }
    for (const { bands } of (layout(560) as FlowLayout).lanes)
      expect(bands.map(({ name }) => name)).toContain('flow');
  });
});
