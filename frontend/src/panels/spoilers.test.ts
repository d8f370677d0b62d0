// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer is to predict is not shown before: on the front page, and in the steps before it. */

import { expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { askingSteps, frontStep, spoilersOf } from './predict.ts';

const recording = (name: string, hogs: number) => {
  return { name, arms: ['rwsem', 'srcu'], params: { hogs }, clock: 'wall', workload: null };
};
const lesson = { ...testLesson(), recordings: [recording('three', 3)] } as unknown as Lesson;
const [one, three] = lesson.scenes as [Lesson['scenes'][number], Lesson['scenes'][number]];
const none = { guesses: {} };
const guessed = { guesses: { three: 1 } };
const nobody = new Set<string>();

it('a step asks until it is answered, or its answer was wanted', () => {
  expect(askingSteps(lesson, none)).toEqual([three]);
  expect(askingSteps(lesson, guessed)).toEqual([]);
  expect(askingSteps(lesson, none, new Set(['three']))).toEqual([]);
});

it('the front page shows no step that asks, and none behind it', () => {
  const hero = { ...lesson, hero: 'three' };
  expect(frontStep(hero, none)).toBe(one);
  expect(frontStep(hero, guessed)).toBe(three);
  expect(frontStep({ ...lesson, hero: 'one' }, none)).toBe(one);
});

const both = { ...one, arms: ['rwsem', 'srcu'] };
const shows = { ...lesson, scenes: [both, three] };

it('a step hides what it counts of lanes for which a later one asks, where both show one recording', () => {
  expect(spoilersOf(shows, both, none, nobody)('counts')).toBe(true);
  expect(spoilersOf(shows, both, guessed, nobody)('counts')).toBe(false);
  expect(spoilersOf(shows, both, none, new Set(['three']))('counts')).toBe(false);
  expect(spoilersOf(shows, three, none, nobody)('counts')).toBe(false);
  // One lane alone answers nothing, nor does another recording.
  expect(spoilersOf(lesson, one, none, nobody)('counts')).toBe(false);
  const recordings = [recording('three', 3), recording('one', 1)];
  const two = { ...shows, recordings } as unknown as Lesson;
  expect(spoilersOf(two, both, none, nobody)('counts')).toBe(false);
});

it('whatever the question is of: all that counts, or what the view says', () => {
  const predictions = { three: { ...shows.predictions['three']!, metric: 'name_reads' } };
  const asked = { ...shows, predictions };
  expect(spoilersOf(asked, both, none, nobody)('overview')).toBe(true);
  const tells = { name_reads: ['counted', 'counts'] };
  const spoils = spoilersOf(asked, both, none, nobody, tells);
  expect(['counted', 'counts', 'overview', 'model'].map(spoils)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
