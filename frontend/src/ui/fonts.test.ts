// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fontsArrived, fontsLoaded, pageFonts } from './theme.ts';

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

describe('a page from a server', () => {
  const href = './assets/fonts-1.css';
  const stored = new Map<string, string>();
  let sheets: string[] = [];

  beforeEach(() => {
    sheets = [];
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
    });
    vi.stubGlobal('document', {
      createElement: () => ({}),
      fonts: { load: () => Promise.resolve([]), ready: Promise.resolve() },
      head: {
        append: (sheet: { href: string; onload: () => void }) => {
          sheets.push(sheet.href);
          sheet.onload();
        },
      },
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  it('gets its fonts after its first picture, and at once the next time', async () => {
    let draw = () => {};
    const picture = new Promise<void>((done) => {
      draw = done;
    });
    await pageFonts(href, picture);
    expect(sheets).toEqual([]);
    draw();
    await fontsArrived();
    expect(sheets).toEqual([href]);
    await pageFonts(href, new Promise(() => {}));
    expect(sheets).toEqual([href, href]);
  });

  it('gets new fonts after its first picture', async () => {
    await pageFonts('./assets/fonts-2.css', Promise.resolve());
    expect(sheets).toEqual([]);
    await fontsArrived();
    expect(sheets).toEqual(['./assets/fonts-2.css']);
  });

  it('gets them first if it is laid out by the size of text, or if its own style sheet has them', async () => {
    stored.clear();
    await pageFonts(href, null);
    expect(sheets).toEqual([href]);
    await pageFonts(null, new Promise(() => {}));
    expect(sheets).toHaveLength(1);
  });
});
