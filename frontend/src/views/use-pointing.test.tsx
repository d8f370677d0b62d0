// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** Who has clicked on the picture gets the arrow keys of the run back by Escape. */

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Artist } from './contract.ts';
import { usePointing } from './use-pointing.ts';

afterEach(cleanup);

const artist = { step: () => null } as unknown as Artist;

function Picture() {
  const { onKeyDown } = usePointing({
    ...{ artist, now: () => ({}) as never, invalidate: () => {}, pointed: { current: null } },
    ...{ onHover: undefined, onSelect: undefined, onSeek: undefined },
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as the picture itself
    <div role="application" tabIndex={0} onKeyDown={onKeyDown} />
  );
}

test('in the picture arrows go from mark to mark; after Escape they step the run again', () => {
  /** What the keys of the page get. */
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
