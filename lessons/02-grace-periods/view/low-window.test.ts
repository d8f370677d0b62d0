// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in a low window. */

import type { Layout as RowsLayout } from '@page/views/timeline/layout.ts';
import { low, shownLow } from '@test/figures/low-window.ts';
import { recordedLessons } from '@test/fixtures/recordings.ts';
import { describe, expect, it } from 'vitest';

describe('rows of threads', () => {
  it('are given the height that the lowest lane and the axis need', () => {
    const { least, layout } = shownLow(recordedLessons('02-grace-periods')[0]!, 'the-reader');
    const { layout: rows } = layout(least) as { layout: RowsLayout };
    expect(least).toBeGreaterThan(low.height);
    expect(rows.lanes).toHaveLength(3);
    expect(rows.lanes.at(-1)!.bottom).toBeLessThanOrEqual(rows.axisY);
    expect(rows.axisY + 20).toBeLessThanOrEqual(least);
  });
});
