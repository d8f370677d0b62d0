// SPDX-License-Identifier: GPL-2.0-or-later
/** If a few long waits slow a lane down, the mean shows it. In the drawings, one letter is 100 µs. */

import { expect, it } from 'vitest';
import { frameOver, picture } from '../../../test/fixtures/drawing.ts';
import { recordingPen } from '../../../test/fixtures/pen.ts';
import { lightTheme } from '../../base/theme.ts';
import { latenciesOf } from '../../derive/latency.ts';
import { drawDots, layoutDots } from './index.tsx';

const words = (width: number) => {
  const layout = layoutDots(
    picture,
    frameOver(0, 20, 20),
    { width, height: 160, dpr: 1 },
    (arm) => arm,
  );
  const { pen, log } = recordingPen();
  drawDots(pen, layout, lightTheme, width, 160);
  return log.flatMap(({ text }) => (text === undefined ? [] : [text]));
};

it('mean and median of a lane, and the mean alone where there is little room', () => {
  const lane = picture.lanes.find(({ ops }) => ops.length > 0)!;
  const { mean, median, n } = latenciesOf(lane, Number.POSITIVE_INFINITY);
  expect(n).toBeGreaterThan(0);
  expect(mean).toBeGreaterThan(0);
  expect(median).toBeGreaterThan(0);
  expect(words(600).join(' ')).toMatch(/▴ mean \S+ .s {2}\| median \S+ .s {2}n = \d/);
  const narrow = words(200).join(' ');
  expect(narrow).toContain('▴ mean');
  expect(narrow).not.toContain('median');
});
