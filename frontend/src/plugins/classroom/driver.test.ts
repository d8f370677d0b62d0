// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { testLesson } from '../../../test/fixtures/page.tsx';
import { ns } from '../../base/units.ts';
import { frontPage, readPlace } from '../../navigation/place.ts';
import { initialPlayback, type PlaybackState } from '../../playback/machine.ts';
import type { ClassPlace } from './class-state.ts';
import { drivenOf, isThere, requestedOf, sameScenery, sceneryPlace, targetOf } from './driver.ts';
import { place as message } from './fixtures/classes.ts';

const lesson = testLesson();
const scene = lesson.scenes[0]!;
const scenery = {
  ...{ lesson, scene, arms: ['rwsem', 'srcu'], run: 'storm-9' },
  place: { ...frontPage, present: 'slides', knobs: { hogs: 9 }, panes: ['words'] },
} as const;
const playing: PlaybackState = {
  ...initialPlayback,
  mode: 'play',
  ...{ moment: ns(12e6), start: ns(10e6), span: 30e6, speed: 0.01 },
};

function sent(now = playing, change: Partial<ClassPlace> = {}) {
  const { spotlight: _none, ...driven } = drivenOf(scenery, now);
  return message({ ...(driven as Partial<ClassPlace>), ...change });
}

test('a follower reads the place that the driver sends as a link, and stays in his own shell', () => {
  const requested = requestedOf(sent(), { ...frontPage, present: null });
  expect(requested).toEqual({
    ...sceneryPlace(scenery),
    ...{ moment: 12e6, window: { start: 10e6, span: 30e6 }, align: 'time', present: null },
  });
  expect(drivenOf(scenery, null).moment_ns).toBeNull();
});

test('scenery differs by step, run, lanes, knobs and panes, never by moment or shell', () => {
  const own = sceneryPlace(scenery);
  expect(sameScenery(requestedOf(sent(), own), { ...own, moment: 3, present: 'slides' })).toBe(
    true,
  );
  expect(sameScenery({ ...own, run: null, arms: null }, own)).toBe(true);
  for (const other of [
    { step: 'x' },
    { run: 'y' },
    { arms: ['srcu'] },
    { knobs: null },
    { panes: [] },
  ])
    expect(sameScenery({ ...own, ...other }, own)).toBe(false);
});

test('a moment that plays goes on by the age of the place, and by the time since it came', () => {
  const at = (change: Partial<ClassPlace>, lateMs = 0, end = 1e9) =>
    targetOf(sent(playing, change), scene, lateMs, end).look?.moment;
  expect(at({ age_s: 0.5 }, 500)).toBe(12e6 + 10e6);
  expect(at({ age_s: 0.5, direction: -1 }, 500)).toBe(2e6);
  expect(at({ age_s: 60, direction: -1 })).toBe(0);
  expect(at({ age_s: 60 }, 0, 50e6)).toBe(50e6);
  expect(at({ age_s: 60, mode: 'paused' })).toBe(12e6);
  // The scope waits at the end of its window.
  expect(at({ age_s: 60, mode: 'scope' })).toBe(40e6);
});

test('a follower that plays along is left alone until it is a quarter of a second off', () => {
  const target = targetOf(sent(), scene, 0, 1e9);
  expect(isThere({ ...playing, moment: ns(12e6 + 2e6) }, target)).toBe(true);
  expect(isThere({ ...playing, moment: ns(12e6 + 3e6) }, target)).toBe(false);
  expect(isThere({ ...playing, mode: 'paused' }, target)).toBe(false);
  expect(isThere({ ...playing, direction: -1 }, target)).toBe(false);
  const still = targetOf(sent({ ...playing, mode: 'paused' }), scene, 0, 1e9);
  expect(isThere({ ...playing, mode: 'paused', moment: ns(12e6 + 2) }, still)).toBe(false);
});

test('an address that is too long leaves out knobs and lanes, not the moment', () => {
  const knobs = Object.fromEntries(
    Array.from({ length: 64 }, (_, i) => [`knob_with_a_name_${i}`, i]),
  );
  const { place = '' } = drivenOf({ ...scenery, place: { ...scenery.place, knobs } }, playing);
  expect(place.length).toBeLessThanOrEqual(1024);
  expect(readPlace(place)).toMatchObject({ moment: 12e6, run: 'storm-9', knobs: null });
});
