// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { fileRun, frameAfter } from '../../../test/fixtures/extents.ts';
import { layoutOverview } from './layout.ts';

test('a strip that is too low for its lanes first gives up its axis, then their titles', () => {
  const index = fileRun({ delayed: 8, written: 8, nr: 4, scans: 2 });
  expect(index.lanes).toHaveLength(3);
  const at = (height: number) => {
    const size = { width: 600, height, dpr: 1 };
    const { axis, titles, bands } = layoutOverview(index, frameAfter(4), size, (arm) => arm);
    const low = bands.at(-1)!;
    return { axis, titles, inside: low.top + low.height <= height - (axis ? 20 : 0) };
  };
  expect(at(90)).toEqual({ axis: true, titles: true, inside: true });
  expect(at(54)).toEqual({ axis: false, titles: true, inside: true });
  expect(at(34)).toEqual({ axis: false, titles: false, inside: true });
});
