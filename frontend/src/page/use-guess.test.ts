// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { coverOf } from './use-guess.ts';

const place = { present: null, embed: false, moment: null };

test('the stage is covered, and the explanation hidden, until the viewer has guessed', () => {
  expect(coverOf(false, place)).toEqual({ veiled: true, predicted: false });
  expect(coverOf(true, place)).toEqual({ veiled: false, predicted: true });
});

test('who steps through the picture, or opens a link to a moment, sees the explanation, too', () => {
  expect(coverOf(false, { ...place, moment: 1 })).toEqual({ veiled: false, predicted: true });
});
