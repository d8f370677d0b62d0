// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { openingOf } from './opening.ts';

const opening = { type: 'open', lesson: '02-grace-periods' } as const;

test.each([
  ['?lesson=02-grace-periods', opening],
  [
    '?step=ticks&run=kept:a:b&lesson=02-grace-periods&at=3',
    { ...opening, run: 'kept:a:b', step: 'ticks' },
  ],
  ['?lesson=02', null],
  ['?lesson=02-grace-periods&run=a&with=b', null],
  ['', null],
])('the first message of %s', (search, message) => {
  expect(openingOf(search)).toEqual(message && { ...message, segments: true });
});
