// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fontsLoaded } from './theme.ts';

type Load = FontFaceSet['load'];

describe('the page is drawn', () => {
  afterEach(() => vi.useRealTimers());

  it('when the last of its fonts has come, not before', async () => {
    const come: (() => void)[] = [];
    const load: Load = () => new Promise((done) => come.push(() => done([])));
    let drawn = false;
    const drawing = fontsLoaded({ load }).then(() => {
      drawn = true;
    });
    for (const one of come.slice(1)) one();
    await Promise.resolve();
    expect(come).toHaveLength(3);
    expect(drawn).toBe(false);
    come[0]!();
    await drawing;
  });

  it('without a font that fails', async () => {
    await fontsLoaded({ load: () => Promise.reject(new DOMException('no such file')) });
  });

  it('after a second without a font that does not come', async () => {
    vi.useFakeTimers();
    const drawing = fontsLoaded({ load: () => new Promise(() => {}) });
    await vi.advanceTimersByTimeAsync(1000);
    await drawing;
  });
});
