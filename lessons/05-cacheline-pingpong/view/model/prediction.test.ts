// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { statOf, streamOf } from '../fixtures/stat-stream.ts';
import { modifies } from './coherence.ts';
import { distance, mailShares, profileAt, profileOf } from './prediction.ts';
import { mailProfile, partOf, statedSettings } from './stated.ts';

const profiles = (['stock', 'moved'] as const).map((arm) =>
  profileOf(arm, [statOf(arm)], statedSettings, 20),
);
const near = (shares: readonly number[]) => shares.map((share) => Math.round(share));

test('the parts are the functions of both kernels, and the mail has five of six shares', () => {
  expect(mailProfile.parts.map(({ name }) => name)).toEqual(['get', 'put', 'lookup']);
  expect(partOf('lockref_put_return')).toBe(partOf('lockref_put_or_lock'));
  expect(partOf('dput')).toBe(0);
  expect(mailShares('stock')).toEqual([26.08, 38.09, 25.6]);
  expect(mailShares('moved')).toEqual([41.03, 41.5, null]);
  expect(mailShares('another')).toEqual([null, null, null]);
});

test('moved: a get and a put cost alike if loads own, as in the mail, and not if they read', () => {
  expect(near(profiles[1]!.owning)).toEqual([47, 45, 1]);
  expect(near(profiles[1]!.reading)).toEqual([70, 24, 1]);
  expect(near(profiles[0]!.owning)).toEqual([33, 31, 31]);
  expect(near(profiles[0]!.reading)).toEqual([37, 24, 33]);
});

test('so loads that own are the default: nearer to the mail, in each layout and in all', () => {
  for (const some of [[profiles[0]!], [profiles[1]!], profiles])
    expect(distance(some, 'owning')).toBeLessThan(distance(some, 'reading'));
  expect(distance(profiles, 'owning')).toBeLessThan(7);
  expect(distance(profiles, 'reading')).toBeGreaterThan(14);
});

test('shares are of all time: private work belongs to no part, and nothing is over a hundred', () => {
  const alone = profileAt([statOf('stock')], statedSettings, 1);
  expect(alone.reduce((a, b) => a + b, 0)).toBeLessThan(8);
  const none = profileAt([streamOf([[0, modifies]])], statedSettings, 4);
  expect(none).toEqual([0, 0, 0]);
  for (const { owning } of profiles) expect(owning.reduce((a, b) => a + b, 0)).toBeLessThan(100);
});
