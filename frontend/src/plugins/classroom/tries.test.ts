// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { testLesson } from '../../../test/fixtures/page.tsx';
import { frontPage, readPlace, writePlace } from '../../navigation/place.ts';
import { shownWords } from './class-bar.tsx';
import type { ClassMessage } from './class-state.ts';
import { type Room, reduceClass } from './class-state.ts';
import { requestedOf, sameScenery, sceneryPlace } from './driver.ts';
import { ada, bo, cy, facts, place, tried, welcome } from './fixtures/classes.ts';
import {
  changedWords,
  makersWords,
  openedAt,
  ordered,
  ratioWords,
  shownPlace,
  standsWords,
} from './tries.ts';

const lesson = testLesson();
const scene = lesson.scenes[0]!;
const all = (...more: ClassMessage[]) =>
  [welcome('member'), facts(), ...more].reduce(
    (now: Room | null, one) => reduceClass(now, one, 0),
    null,
  )!;

test('a run says who, what was changed, and how it stands', () => {
  expect(makersWords(tried({ makers: [ada, bo, cy] }))).toBe('Ada, Bo and Cy');
  expect(makersWords(tried({ makers: [] }))).toBe('a person who has left');
  expect(changedWords(tried(), lesson)).toBe('9 hogs');
  expect(changedWords(tried({ turned: {}, summary: 'no lock' }), lesson)).toBe('patch: no lock');
  expect(changedWords(tried({ turned: {} }), lesson)).toBe('unchanged values of the step');
  expect(standsWords(tried())).toBe('rwsem 900, SRCU 180 umounts/s');
  expect(ratioWords(tried())).toBe('×0.2');
  expect(standsWords(tried({ sentence: 'The lane x failed.' }))).toMatch(/s\. The lane x failed/);
  const waits = tried({ state: 'waiting', place: 2, estimate_s: 42, result: null });
  expect(standsWords(waits)).toBe('waits, place 2, begins in about 45 s');
  expect(standsWords({ ...waits, place: null })).toContain('another run of the same person');
  expect(standsWords(tried({ state: 'failed', sentence: 'It was stopped.' }))).toBe(
    'It was stopped.',
  );
  expect(standsWords(tried({ result: null }))).toContain('no number');
});

test('runs are sorted by time or by their number; what has none comes last', () => {
  const ratio = (number: number, to: number | null) =>
    tried({ number, result: { ...tried().result!, ratio: to, lanes: [] } });
  const runs = [ratio(1, 0.5), ratio(2, 2), tried({ number: 3, state: 'running', result: null })];
  const numbers = (by: Parameters<typeof ordered>[1]) => ordered(runs, by).map((r) => r.number);
  expect(numbers('time')).toEqual([3, 2, 1]);
  expect(numbers('highest')).toEqual([2, 1, 3]);
  expect(numbers('lowest')).toEqual([1, 2, 3]);
});

test('a run is shown beside the recording of its step; one with a changed patch alone', () => {
  const recording = {
    ...{ name: 'storm-3', arms: ['rwsem', 'srcu'], params: { hogs: 3 }, clock: 'wall' },
    ...{ workload: null, seconds: 1, bytes: 1, recorded_at: '' },
  } as unknown as (typeof lesson.recordings)[number];
  const recorded = { ...lesson, recordings: [recording] };
  const shown = shownPlace(recorded, tried());
  expect([shown.run, shown.beside]).toEqual(['storm-3', tried().run]);
  expect(readPlace(writePlace(shown))).toMatchObject({ beside: tried().run, step: scene.id });
  const own = tried({ arms: ['srcu', 'own-srcu-0123456789'] });
  expect(shownPlace(recorded, own)).toMatchObject({ run: own.run, beside: null });
  expect(shownPlace({ ...lesson, recordings: [] }, tried()).beside).toBeNull();
});

test('who follows goes to two runs beside each other, out of slides, and back', () => {
  const driver = { ...frontPage, lesson: lesson.slug, step: scene.id, run: 'a', beside: 'b' };
  const there = place({ lesson: lesson.slug, step: scene.id, place: writePlace(driver) });
  const slides = { ...frontPage, lesson: lesson.slug, run: 'a', present: 'slides' } as const;
  const wanted = requestedOf(there, slides);
  expect(wanted).toMatchObject({ run: 'a', beside: 'b', present: null });
  const arms = ['rwsem', 'srcu'];
  const own = sceneryPlace({ lesson, scene, arms, place: wanted, run: 'a' });
  expect(own.beside).toBe('b');
  expect(sameScenery(wanted, own)).toBe(true);
  expect(sameScenery({ ...wanted, beside: null }, own)).toBe(false);
});

test('a page knows where it may try, and what was tried', () => {
  const steps = [{ lesson: lesson.slug, step: scene.id, patches: false }];
  const room = all(
    { type: 'class_opened', class_id: 'c', steps, gallery: true, no_runs: '', no_patches: '' },
    { type: 'class_tries', class_id: 'c', tries: [tried()] },
  );
  expect(openedAt(room, lesson.slug, scene.id)?.patches).toBe(false);
  expect(openedAt(room, lesson.slug, 'another')).toBeNull();
  expect(openedAt(all(), lesson.slug, scene.id)).toBeNull();
  expect(shownWords(room, lesson, tried().run)).toBe(' Second run: Ada, 9 hogs.');
  expect(shownWords(room, lesson, 'another')).toBe('');
});
