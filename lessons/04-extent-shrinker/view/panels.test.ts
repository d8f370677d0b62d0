// SPDX-License-Identifier: GPL-2.0-or-later
/** The mail's time of a scan stands beside ours, and what is left of it there and here. */

import { lightTheme } from '@page/base/theme.ts';
import type { PanelProps } from '@page/views/contract.ts';
import { recordedLessons, shownScene } from '@test/fixtures/recordings.ts';
import { expect, test } from 'vitest';
import { leftWords, priceRows } from './panels.tsx';

const [recorded] = recordedLessons('04-extent-shrinker');
const propsOf = (step: string): PanelProps => {
  const scene = recorded!.lesson.scenes.find(({ id }) => id === step)!;
  const { lesson, index, frameAt } = shownScene(recorded!, scene);
  return {
    ...{ lesson, scene, runIndex: index, theme: lightTheme, recorded: true },
    frame: { get: () => frameAt(1), subscribe: () => () => {} },
    data: { measured: null, tables: lesson.measured, elsewhere: [], linesOf: () => [] },
  };
};
const cells = (props: PanelProps, head: string) => {
  const row = priceRows(props).find((one) => one.head === head);
  return props.runIndex.lanes.map(({ arm }) => `${arm} ${row?.of(arm)}`);
};

test('in the last step the figure that the lesson began with is back, and ours is in the same table', () => {
  const props = propsOf('verdict');
  expect(cells(props, 'time of a scan in the mail')).toEqual([
    'scan-2013 278.4 µs',
    'stock –',
    'evictable-list 95.1 µs',
  ]);
  expect(cells(props, 'time of a scan')).toEqual([
    'scan-2013 435 µs',
    'stock 15.7 µs',
    'evictable-list 39.7 µs',
  ]);
  expect(leftWords(props)).toContain(
    'takes 34 % of the time of a scan on 2013 scan. Here, a scan on evictable list takes 9 %',
  );
});

test('a step without both kernels of the mail compares nothing', () => {
  expect(leftWords(propsOf('price'))).toBe('');
});
