// SPDX-License-Identifier: GPL-2.0-or-later
/** Low windows: the height that a view asks for at least has room for all lanes, and many lanes fit where they can. */

import { beforeAll, describe, expect, it } from 'vitest';
import { lightTheme } from '../src/base/theme.ts';
import type { Layout as FlowLayout } from '../src/views/inode-flow/layout.ts';
import { viewOf } from '../src/views/registry.ts';
import type { Layout as RowsLayout } from '../src/views/timeline/layout.ts';
import { type RecordedLesson, recordedLessons, shownScene } from './fixtures/recordings.ts';

/** What a stage of 1280 x 720 gives a picture, px. */
const low = { width: 928, height: 395, dpr: 1 };
let lessons: readonly RecordedLesson[] = [];
beforeAll(() => {
  lessons = recordedLessons('02-grace-periods', '03-inode-recycling');
});

function shownAt(slug: string, step: string, header = 34) {
  const one = lessons.find(({ lesson }) => lesson.slug === slug)!;
  const { lesson, scene, index, frameAt } = shownScene(
    one,
    one.lesson.scenes.find(({ id }) => id === step)!,
  );
  const { show } = scene;
  const artist = viewOf(lesson.view).artist(lesson, show);
  const drawing = (height: number) => {
    const size = { ...low, height };
    return { index, frame: frameAt(1), size, lesson, theme: lightTheme, show };
  };
  const least = artist.least?.(drawing(0), header, 13) ?? 0;
  return {
    least,
    layout: (height: number) => artist.layout(drawing(height), header, 13) as unknown,
  };
}

describe('rows of threads', () => {
  it('are given the height that the lowest lane and the axis need', () => {
    const { least, layout } = shownAt('02-grace-periods', 'the-reader');
    const { layout: rows } = layout(least) as { layout: RowsLayout };
    expect(least).toBeGreaterThan(low.height);
    expect(rows.lanes).toHaveLength(3);
    expect(rows.lanes.at(-1)!.bottom).toBeLessThanOrEqual(rows.axisY);
    expect(rows.axisY + 20).toBeLessThanOrEqual(least);
  });
});

describe('four lanes of inodes', () => {
  const bands = (height: number) => {
    const { layout } = shownAt('03-inode-recycling', 'four', 26);
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
    const { least, layout } = shownAt('03-inode-recycling', 'dam');
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
