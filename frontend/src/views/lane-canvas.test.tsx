// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import type { Artist } from './contract.ts';
import { bodyOf, ringOf, usePointing } from './lane-canvas.tsx';

describe('use pointing', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** After a click on the picture, Escape returns the arrow keys to the run. */

  afterEach(cleanup);

  const artist = { rows: () => [] } as unknown as Artist;

  function Picture() {
    const { onKeyDown } = usePointing({
      ...{
        artist,
        now: () => ({ drawing: { frame: {} } }) as never,
        invalidate: () => {},
        pointed: { current: null },
      },
      ...{ onHover: undefined, onSelect: undefined, onSeek: undefined },
    });
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: as the picture itself
      <div role="application" tabIndex={0} onKeyDown={onKeyDown} />
    );
  }

  test('in the picture arrows go from mark to mark; after Escape they step the run again', () => {
    /** Keys that reach the page's own shortcuts. */
    const left: string[] = [];
    const listen = (event: KeyboardEvent) => !event.defaultPrevented && left.push(event.key);
    document.addEventListener('keydown', listen);
    render(<Picture />);
    const press = (key: string) => fireEvent.keyDown(document.activeElement!, { key });
    const picture = screen.getByRole('application');
    picture.focus();
    press('ArrowRight');
    expect(left).toEqual([]);
    press('Escape');
    press('ArrowRight');
    document.removeEventListener('keydown', listen);
    expect(document.activeElement).toBe(document.body);
    expect(left).toEqual(['Escape', 'ArrowRight']);
  });
});

describe('spot ring', () => {
  const lanes = [
    { arm: 'a', left: 100, top: 0, width: 500 },
    { arm: 'b', left: 100, top: 200, width: 500 },
  ];

  test('the ring is around the mark, or around the lane where the mark is out of view', () => {
    const ring = (arm: string, point: { x: number; y: number } | null) => {
      const mark = null;
      return ringOf({ lanes }, { height: 450 }, { arm, mark }, point);
    };
    expect(ring('a', { x: 300, y: 50 })).toMatchObject({
      left: 282,
      top: 32,
      width: 36,
      height: 36,
    });
    expect(ring('a', null)).toMatchObject({ left: 94, top: 0, width: 512, height: 200 });
    expect(ring('b', null)).toMatchObject({ top: 200, height: 250 });
    expect(ring('gone', null)).toBeNull();
  });

  test('what covers a lane leaves its header and the axis below it', () => {
    const [first, last] = lanes.map((lane) => bodyOf({ lanes }, { height: 450 }, lane, 34));
    expect(first).toEqual({ left: 100, top: 34, width: 500, height: 166 });
    expect(last).toMatchObject({ top: 234, height: 216 });
    const short = { ...lanes[1]!, bottom: 420 };
    expect(bodyOf({ lanes }, { height: 450 }, short, 34)).toMatchObject({ top: 234, height: 186 });
  });
});
