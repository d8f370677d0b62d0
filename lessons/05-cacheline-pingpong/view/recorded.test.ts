// SPDX-License-Identifier: GPL-2.0-or-later
/** Lesson 05 on its recordings: each step opens where its sentence has the direction of what the step claims. */

import { collect, type Figure } from '@page/derive/figures.ts';
import { claimedPlace } from '@page/derive/sought.ts';
import {
  type RecordedLesson,
  recordedLessons,
  type ShownScene,
  shownScene,
} from '@test/fixtures/recordings.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moments } from './index.tsx';
import { sentences } from './words.ts';

let recorded: RecordedLesson | null = null;
beforeAll(() => {
  [recorded = null] = recordedLessons('05-cacheline-pingpong');
});
afterAll(() => {
  recorded = null;
});

function shown(id: string): ShownScene {
  const scene = recorded!.lesson.scenes.find((one) => one.id === id);
  if (scene === undefined) throw new Error(`lesson 05 has no step ${id}`);
  return shownScene(recorded!, scene);
}

/** Figures of the sentence at a share of the step's window. */
function said(id: string, share = 0) {
  const { scene, index, lesson, frameAt } = shown(id);
  const { figures } = collect(() => sentences[scene.sentence]!(index, frameAt(share), lesson));
  return (arm: string, what: string, scope: Figure['scope']): number => {
    const found = figures.find((f) => f.arm === arm && f.what === what && f.scope === scope);
    if (found === undefined) throw new Error(`the sentence of ${id} has no ${scope} ${what}`);
    return found.value;
  };
}

/** Accesses of an operation without the read-modify-writes of the count. */
const besideSwaps = (of: ReturnType<typeof said>, arm: string): number =>
  of(arm, 'accesses per op', 'run') - of(arm, 'hot rmws', 'run');

/** What the text of a step says; shares of the window, where the sentence must agree with it. */
const claims: Readonly<
  Record<string, (of: ReturnType<typeof said>, share: number) => readonly boolean[]>
> = {
  'two-cpus': (of) => [
    of('stock', 'name reads', 'run') === 2,
    of('stock', 'forName', 'far') > 0.2 * of('stock', 'transfers', 'far'),
  ],
  'eight-letters': (of, share) => [
    of('stock', 'forName', 'far') === 0,
    of('stock', 'transfers per op', 'far') <
      said('two-cpus', share)('stock', 'transfers per op', 'far') - 0.3,
  ],
  moved: (of) => [
    of('stock', 'transfers per op', 'far') > of('moved', 'transfers per op', 'far') + 0.3,
    of('stock', 'forName', 'far') > 10 * of('moved', 'forName', 'far'),
  ],
  'many-cpus': (of) => [
    Math.round(of('stock', 'transfers per op', 'far')) === 3,
    Math.round(of('moved', 'transfers per op', 'far')) === 2,
    of('moved', 'times the rate', 'model') > 1.4,
  ],
  numbers: (of) => [
    // The same accesses on both, but for swaps that are tried again, as often as CPUs meet.
    Math.abs(besideSwaps(of, 'stock') - besideSwaps(of, 'moved')) < 1e-9,
    of('stock', 'hot reads', 'run') === of('moved', 'hot reads', 'run') + 2,
  ],
  'the-price': (of) => [of('moved', 'gap', 'model') < of('stock', 'gap', 'model')],
};

describe.each(Object.entries(claims))('%s', (id, claim) => {
  test.each([0, 0.5, 1])('agrees with its sentence at %s of its window', (share) => {
    expect(claim(said(id, share), share)).not.toContain(false);
  });
});

test('words of caches have a card, and a step that explains them', () => {
  const { lesson } = recorded!;
  for (const word of ['false sharing', 'MESI', 'transfer', 'upgrade', 'read-modify-write', 'rmw']) {
    const term = lesson.terms.find(({ name, also }) => [name, ...also].includes(word));
    expect(term?.says.length, word).toBeGreaterThan(40);
    const prose = ['one-stat', 'two-cpus'].map((id) => lesson.content[id]).join(' ');
    expect(prose, word).toMatch(new RegExp(`\\*${word}\\*`));
  }
});

test('one stat: nothing is written but the count', () => {
  const steps = shown('one-stat').frameAt(0).span / 1000;
  const of = said('one-stat', 21 / steps);
  expect(of('stock', 'read-modify-write', 'operation')).toBe(2);
});

test('the lock stays taken in a queue, and is free again where waiters just try', () => {
  const after = (id: string) => said(id, 1)('stock', 'slow in phase after', 'mark');
  const listed = (id: string) => said(id, 1)('stock', 'slow in phase listing', 'mark');
  expect(after('listing')).toBeGreaterThan(90);
  expect(after('locks')).toBeLessThan(listed('locks') / 10);
});

test('the burst that makes the share of the listing is named, where there is one', () => {
  const of = said('listing', 1);
  expect(of('stock', 'slow in phase listing', 'mark')).toBeLessThan(10);
  expect(of('stock', 'slow, late in phase listing', 'mark')).toBeGreaterThan(90);
  expect(of('stock', 'early in phase listing', 'mark')).toBeGreaterThan(
    0.9 * of('stock', 'all in phase listing', 'mark'),
  );
  expect(() => said('locks', 1)('stock', 'all in phase listing', 'mark')).toThrow(/has no/);
});

test('each step finds what it must show where it opens of itself', () => {
  for (const { id } of recorded!.lesson.scenes) {
    const { index, scene, lesson } = shown(id);
    expect(scene.must_show, id).not.toBeNull();
    const { place, shown: seen } = claimedPlace(index, scene, lesson, moments);
    expect([id, seen, place.start]).toEqual([
      id,
      true,
      moments[scene.moment]!(index, scene)!.start,
    ]);
  }
});

test('who does not see a step move sees the lock in all phases', () => {
  const { index, scene, lesson } = shown('listing');
  const { moment, begin, start, span } = claimedPlace(index, scene, lesson, moments).place;
  expect(moment).toBe(start + span);
  // Somebody lists from the third second on; a while of the time before it is seen.
  expect(begin! / 1e9).toBeGreaterThan(2);
  expect(begin! / 1e9).toBeLessThan(2.95);
});
