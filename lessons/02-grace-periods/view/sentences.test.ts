// SPDX-License-Identifier: GPL-2.0-or-later
/** The text alternative says what the picture shows. One letter is 100 µs. */

import { opsRatio } from '@page/derive/prediction.ts';
import { indexRun } from '@page/derive/run-index.ts';
import { cell, frameOver, indexOf, picture, storeOf } from '@test/fixtures/drawing.ts';
import { testLesson } from '@test/fixtures/lesson.ts';
import { expect, test } from 'vitest';
import { rowSentences } from './sentences.ts';

const say = (kind: keyof typeof rowSentences, moment: number) =>
  rowSentences[kind](picture, frameOver(0, 20, moment), testLesson);

test('waits: who, since when, was there a check, was there a reader', () => {
  expect(say('waits', 5)).toBe(
    'On rwsem, 1 of 2 hogs waits for shrinker_rwsem; the longest of these waits begins now. On SRCU, 2 of 3 hogs wait for the same SRCU grace period; the grace period began 400 µs ago, and no check for readers has begun.',
  );
  expect(say('waits', 12)).toContain(
    'On SRCU, all 3 hogs wait for an SRCU grace period, 2 of them for the same grace period; the grace period began 1.1 ms ago, the check took 100 µs, and no reader was there; the grace period has been over for 200 µs, but no callback has run.',
  );
});

test('who asks while a grace period is under way waits for the next, and is not counted with the first', () => {
  const two = indexOf(`
    srcu
    storm-0  RSSSSSSSSSSS
    storm-1  RRRRRSSSSSSS
    storm-2  RRRRRRSSSSSS
    grace-period .AAAAAAAAAAA
  `);
  expect(rowSentences.waits(two, frameOver(0, 12, 4), testLesson)).toBe(
    'On SRCU, 1 of 3 hogs waits for an SRCU grace period; the grace period began 300 µs ago, and no check for readers has begun.',
  );
  expect(rowSentences.waits(two, frameOver(0, 12, 8), testLesson)).toBe(
    'On SRCU, all 3 hogs wait for an SRCU grace period, 2 of them for the same grace period; the grace period has not begun, because the previous grace period is not over.',
  );
});

test('wakes: how many one wake freed, and what their sleep was made of', () => {
  expect(say('wakes', 18)).toBe(
    'On SRCU, one wake-up freed 2 hogs 100 µs ago. The longest sleep that this wake-up ended lasted 1.6 ms; the check took 100 µs of this time, and the rest was delay.',
  );
  expect(say('wakes', 17)).toContain('On SRCU, one wake-up freed 2 hogs just now. The longest');
  expect(say('wakes', 3)).toContain('On SRCU, 2 of 3 hogs wait');
});

test('wakes: more who sleep than the largest wake has freed go before it', () => {
  const one = indexOf(`
    srcu
    storm-0  RSSSSSSSSSSSSRR
    storm-1  RRSSSRRSSSSSSSS
    storm-2  RRRRRRRSSSSSSSS
    grace-period .AAAC..........
    callbacks .....W.........
  `);
  expect(rowSentences.wakes(one, frameOver(0, 15, 10), testLesson)).toContain(
    'On SRCU, all 3 hogs wait for',
  );
});

test('rates are counts so far, not rates', () => {
  expect(say('rates', 20)).toBe('Up to this moment, rwsem has done 5 umounts and SRCU 2.');
  expect(say('rates', 4)).toBe('Up to this moment, rwsem has done 1 umount and SRCU 0.');
});

test('one operation is taken apart', () => {
  const one = indexOf('rwsem\nstorm-0 RREERRRLL!');
  expect(rowSentences.one_op(one, frameOver(0, 10, 10), testLesson)).toBe(
    'On rwsem, this umount took 1 ms: 600 µs it runs, 200 µs it waits for shrinker_rwsem and 200 µs it waits for an expedited RCU grace period (not the lesson).',
  );
});

test('an operation that is off the stage does not stand for the one on it', () => {
  const one = indexOf('rwsem\nstorm-0 RRRR!RRRRRR');
  const from = (start: number) => rowSentences.one_op(one, frameOver(start, 12, 7), testLesson);
  expect(from(3)).toContain('this umount took 500 µs');
  expect(from(6)).toBe('On rwsem, no umount of this window has begun yet.');
});

test('the wake that ended most sleep is named, not the last one', () => {
  const two = indexOf(`
    srcu
    storm-0  RSSSSSSSSSSSRRRRRRRRRRRRRRRRRR
    storm-1  RSSSSSSSSSSSRRRRRRRRRRRRRRRRRR
    storm-2  RRRRRRRRRRRRRRRRRRRRRRRSSRRRRR
    wake> storm-0 12
    wake> storm-1 12
    wake> storm-2 25
  `);
  const words = rowSentences.wakes(two, frameOver(0, 30, 29), testLesson);
  expect(words).toContain('The longest sleep that this wake-up ended lasted 1.1 ms');
});

test('the first to ask waits for no grace period before', () => {
  const one = indexOf(`
    srcu
    storm-0  RSSSSSSS
    grace-period ........
  `);
  expect(rowSentences.waits(one, frameOver(0, 8, 4), testLesson)).toBe(
    'On SRCU, the one hog waits for an SRCU grace period; the grace period has not begun yet.',
  );
});

test('expedited periods are counted, and dismissed', () => {
  expect(say('expedited', 20)).toBe(
    'In this window, rwsem runs 0 expedited RCU grace periods for 5 umounts and SRCU runs 1 expedited RCU grace period for 2 umounts (the longest took 200 µs). Every kernel has these grace periods, so they cannot explain the difference.',
  );
});

test('a reader is named with those who wait for it', () => {
  const read = indexOf(`
    srcu
    storm-0  RSSSSSSSSS
    storm-1  RRRRRRSSSS
    storm-reclaim .OOOOOOO..
    grace-period .AACXXXX..
  `);
  expect(rowSentences.reader(read, frameOver(0, 10, 5), testLesson)).toBe(
    'On SRCU, a reader has been inside shrink_slab for 400 µs; 1 of 2 hogs waits meanwhile, and the check has found this reader and tries again.',
  );
  expect(rowSentences.reader(read, frameOver(0, 10, 9), testLesson)).toBe(
    'On SRCU, no reader walks the shrinkers now.',
  );
});

test('a moment that is not known yet is not called idle', () => {
  const live = indexOf('srcu\nstorm-0 RRRR', true);
  expect(rowSentences.waits(live, frameOver(0, 20, 9), testLesson)).toBe(
    'On SRCU, there are no data for this moment yet.',
  );
});

test('where events were lost no ratio is given', () => {
  const store = storeOf(`
    rwsem
    storm-0  ${'R!'.repeat(30)}
    srcu
    storm-0  ${'RSSSS!'.repeat(10)}
  `);
  const index = () => indexRun(store.shown()!, testLesson);
  const rates = () => rowSentences.rates(index(), frameOver(0, 60, 60), testLesson);
  expect(rates()).toBe(
    'Up to this moment, rwsem has done 30 umounts and SRCU 10: for each 100 on rwsem, 33 on SRCU.',
  );
  expect(opsRatio(index(), testLesson.predictions['fewer']!, testLesson)!.choice).toBe(1);
  store.dispatch({
    type: 'loss',
    run_id: 'r',
    arm: 'srcu',
    t0_ns: 5 * cell,
    t1_ns: 6 * cell,
    events: null,
    where: 'ring buffer',
  });
  expect(rates()).toBe(
    'Up to this moment, rwsem has done 30 umounts and SRCU 10. Events of SRCU were lost, so no ratio is given.',
  );
  expect(opsRatio(index(), testLesson.predictions['fewer']!, testLesson)).toBeNull();
});

test('waited: share of the time, mean and longest, so far', () => {
  const one = indexOf(`
    srcu
    storm-0  RRSSSSRRRRRR
    storm-1  RRRRRRRRRRRR
  `);
  const words = rowSentences.waited(one, frameOver(0, 12, 12), testLesson);
  expect(words).toMatch(
    /^Time spent waiting for the lesson's lock or grace period so far: 17 % of the hogs' time on SRCU/,
  );
  expect(words).toContain('the longest wait 400 µs');
  expect(rowSentences.waited(one, frameOver(0, 12, 2), testLesson)).toBe(
    "Time spent waiting for the lesson's lock or grace period so far: none of the hogs' time on SRCU.",
  );
});

test('waited: no mean while waits of umounts that are not over make it more than the longest', () => {
  const one = indexOf(`
    srcu
    storm-0  RSSSSSSS!RRRRR
    storm-1  RSSSSSSSSSS!RR
  `);
  const at = (moment: number) => rowSentences.waited(one, frameOver(0, 14, moment), testLesson);
  expect(at(6)).toContain("of the hogs' time on SRCU (the longest wait 1 ms).");
  expect(at(10)).toContain("of the hogs' time on SRCU (the longest wait 1 ms).");
  expect(at(13)).toContain('(850 µs for each umount on average, the longest wait 1 ms)');
  const two = indexOf(`
    srcu
    storm-0  RSSSS!RSSSSSSSSS!R
    storm-1  R!RRRRRSSSSSSSSS!R
  `);
  const then = (moment: number) => rowSentences.waited(two, frameOver(0, 18, moment), testLesson);
  expect(then(15)).toContain("of the hogs' time on SRCU (the longest wait 900 µs).");
  expect(then(18)).toContain('on average, the longest wait 900 µs');
});
