// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { reached, readable } from './reading.ts';

const [one, asks, last] = ['one', 'asks', 'last'].map((id) => ({
  ...testLesson().scenes[0]!,
  id,
})) as [never, never, never];
const scenes = [one, asks, last];
const all = (now: never, asking: readonly never[]) =>
  scenes.map((step) => readable(scenes, now, step, asking));

test('no text stands there that may answer a question which is still open', () => {
  expect(all(one, [asks])).toEqual(['all', 'question', 'title']);
  expect(all(asks, [asks])).toEqual(['all', 'question', 'title']);
  expect(all(asks, [])).toEqual(['all', 'all', 'all']);
});

test('whoever is past a question has what comes after it', () => {
  expect(all(last, [asks])).toEqual(['all', 'question', 'all']);
});

test('the step is reached whose text has come up to the line', () => {
  const texts = [
    { id: 'one', top: -300 },
    { id: 'asks', top: 250 },
    { id: 'last', top: 900 },
  ];
  expect(reached(texts, 280)).toBe('asks');
  expect(reached(texts, 200)).toBe('one');
  expect(reached(texts, -400)).toBeNull();
});
