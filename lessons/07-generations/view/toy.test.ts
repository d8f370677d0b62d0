// SPDX-License-Identifier: GPL-2.0-or-later
/** The memory of the toy does what the recorded kernels do. */

import { describe, expect, it } from 'vitest';
import { outcomeOf, room } from './toy.ts';

describe('the memory of the toy', () => {
  it('keeps all hot pages on both policies if they are less than half', () => {
    for (let hot = 0; hot < room / 2; hot++) {
      for (const policy of ['lists', 'generations'] as const)
        expect(outcomeOf(policy, hot, 12).again, `${policy}, ${hot} hot`).toBe(0);
    }
  });

  it('evicts some hot pages of two lists beyond half, and each of them near the end', () => {
    const again = Array.from({ length: room }, (_, hot) => outcomeOf('lists', hot, 12).again);
    expect(again.some((n, hot) => hot > room / 2 && n > 0 && n < hot)).toBe(true);
    expect(again[13]).toBe(13);
  });

  it('evicts no hot page with generations while the scan has a page for itself', () => {
    for (let hot = 0; hot < room; hot++)
      for (let scan = 0; scan <= 24; scan++)
        expect(outcomeOf('generations', hot, scan).again, `${hot} hot, ${scan}`).toBe(0);
  });

  it('evicts hot pages with both if nothing else is in memory', () => {
    expect(outcomeOf('lists', room, 12).again).toBeGreaterThan(0);
    expect(outcomeOf('generations', room, 12).again).toBeGreaterThan(0);
  });
});
