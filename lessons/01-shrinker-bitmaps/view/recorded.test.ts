// SPDX-License-Identifier: GPL-2.0-or-later
/** What the lesson's text says of its recordings. */

import { formatCount } from '@page/base/units.ts';
import { indexRun } from '@page/derive/run-index.ts';
import { recordedLessons } from '@test/fixtures/recordings.ts';
import { expect, test } from 'vitest';
import { Count, wallOf } from './wall.ts';

test('in each pass the root is asked by every shrinker, and once more for what knows no memcg', () => {
  const [one] = recordedLessons('01-shrinker-bitmaps');
  const seen: (readonly [string, number, number])[] = [];
  for (const [id, store] of one!.runs) {
    if (!id.endsWith('containers')) continue;
    const index = indexRun(store.shown()!, one!.lesson);
    for (const lane of index.lanes) {
      const { n } = wallOf(lane, one!.lesson).at(1e15);
      seen.push([`${id} ${lane.arm}`, n[Count.rootVisits]! / n[Count.pass]!, n[Count.shrinkers]!]);
    }
  }
  expect(seen.map(([name, root]) => [name, root])).toEqual(
    seen.map(([name, , shrinkers]) => [name, shrinkers + 1]),
  );
});

test('the claim of the third call has the visits that the recording has', () => {
  const [one] = recordedLessons('01-shrinker-bitmaps');
  const { lesson, runs } = one!;
  const [, store] = [...runs].find(([id]) => id.endsWith('56-containers'))!;
  const index = indexRun(store.shown()!, lesson);
  const visits = index.lanes.map((lane) => wallOf(lane, lesson).calls()[2]!.visits);
  const { claim } = lesson.scenes.find(({ id }) => id === 'third-call')!;
  for (const n of visits) expect(claim).toMatch(new RegExp(`\\b${formatCount(n)}\\b`));
  expect(new Set(visits).size).toBe(2);
});
