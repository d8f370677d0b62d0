// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { off } from './parts.tsx';

const sources: Record<string, string> = import.meta.glob(
  ['../**/*.tsx', '../../../lessons/*/view/**/*.tsx'],
  { query: '?raw', import: 'default', eager: true },
);

it('a button that is off says why, to mouse and screen reader', () => {
  expect(off('Not yet.')).toEqual({
    disabled: true,
    title: 'Not yet.',
    'aria-description': 'Not yet.',
  });
  expect([off(''), off(null), off(false)]).toEqual([{}, {}, {}]);
});

it('no part of the page is off without saying why', () => {
  const silent = Object.entries(sources).filter(([, text]) => /\bdisabled[={]/.test(text));
  expect(Object.keys(sources).length).toBeGreaterThan(50);
  expect(silent.map(([name]) => name)).toEqual([]);
});
