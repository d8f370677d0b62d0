// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { fileRun } from '../../test/fixtures/extents.ts';
import { testLesson } from '../../test/fixtures/page.tsx';
import { wholeLesson } from '../../test/fixtures/whole.ts';
import { lessonOfRun } from '../derive/run-index.ts';
import { readPlace } from '../navigation/place.ts';
import { besideAddress, type Comparison } from '../runs/saved-runs.tsx';
import { commonArms, laneWords, titled, whyNoCommonAxis } from './compare-view.tsx';
import { comparedId } from './use-compare-view.ts';

const lesson = testLesson();
const side = (arms: string[], created: string) => ({
  ...{ arms, created, clock: 'wall' as const, workload: 'storm', params: {}, host: {} },
});
const found: Comparison = {
  lesson: lesson.slug,
  sides: [side(['srcu', 'rwsem'], '2026-03-01T10:00:00Z'), side(['rwsem'], '2026-03-02T10:00:00Z')],
  differences: [
    { of: 'run', what: 'arms', arm: '', recorded: 'srcu, rwsem', now: 'rwsem' },
    { of: 'run', what: 'hogs', arm: '', recorded: '9', now: '3' },
    { of: 'kernel', what: 'kernel version', arm: 'rwsem', recorded: '6.1.1', now: '6.1.2' },
    { of: 'kernel', what: 'kernel version', arm: 'srcu', recorded: '6.1.3', now: '6.1.4' },
    { of: 'build', what: 'compiler', arm: 'rwsem', recorded: 'gcc 12', now: 'gcc 13' },
  ],
  figures: [],
  only: { srcu: 'first' },
  worth: '',
};

test('arms of both runs are shown, and all of them where the wanted one is in one alone', () => {
  expect(commonArms(lesson, found, ['rwsem', 'srcu'])).toEqual(['rwsem']);
  expect(commonArms(lesson, found, ['srcu'])).toEqual(['rwsem']);
  const whole = { sides: [found.sides[0]!, found.sides[0]!] };
  expect(commonArms(lesson, whole, ['srcu', 'rwsem'])).toEqual(['rwsem', 'srcu']);
});

test('a lane says its day and what differs of its knobs, kernel and host', () => {
  expect(laneWords(found, 'first', 'rwsem')).toBe('1 Mar 2026 · hogs 9 · kernel version 6.1.1');
  expect(laneWords(found, 'second', 'rwsem')).toBe('2 Mar 2026 · hogs 3 · kernel version 6.1.2');
});

test('each arm has two names, one in each run', () => {
  expect(titled(lesson, ['srcu']).arms.map((arm) => [arm.name, arm.title])).toEqual([
    ['first:srcu', 'SRCU, first'],
    ['second:srcu', 'SRCU, second'],
  ]);
});

test('an address names recordings by their name, other runs by their id', () => {
  const kept = `kept:${lesson.slug}:run-20260301-100000`;
  const address = besideAddress(lesson, `recorded:${lesson.slug}:9-hogs`, kept);
  const place = readPlace(address);
  expect([place.run, place.beside]).toEqual(['9-hogs', kept]);
  expect(comparedId(lesson.slug, '9-hogs')).toBe(`recorded:${lesson.slug}:9-hogs`);
  expect(comparedId(lesson.slug, kept)).toBe(kept);
});

test('lanes that count different things have no common axis', () => {
  const run = fileRun({ delayed: 8, written: 8, nr: 4, scans: 4 });
  const counted = { point: 'visit', title: '', unit: 'entry', plural: 'entries', workloads: [] };
  const [time, entries] = [null, counted].map((axis) => ({ ...run, axis }));
  expect(whyNoCommonAxis(lesson, entries!, entries!)).toBe('');
  expect(whyNoCommonAxis(lesson, time!, entries!)).toContain(
    'the first run’s axis counts guest time, and the second run’s axis counts entries',
  );
});

test('runs whose operations are different things are not compared', () => {
  const run = fileRun({ delayed: 8, written: 8, nr: 4, scans: 4 });
  const operation = { name: 'visit', plural: 'visits', open: null, close: null };
  const { workloads } = wholeLesson({
    ...lesson,
    workloads: { fio: { title: '', summary: '', operation } },
  });
  const two = { ...lesson, workloads };
  expect(whyNoCommonAxis(two, run, { ...run, workload: 'fio' })).toContain(
    'but an operation of the second run is a visit.',
  );
  expect(whyNoCommonAxis(two, { ...run, workload: 'fio' }, { ...run, workload: 'fio' })).toBe('');
  expect(lessonOfRun(two, 'fio')).toBe(lessonOfRun(two, 'fio'));
  expect(lessonOfRun(two, 'storm')).toBe(two);
});
