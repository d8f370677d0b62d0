// SPDX-License-Identifier: GPL-2.0-or-later
/** Entries that come back while scans go on are seen where they come from: in the boxes, the figures, the words. */

import { expect, test } from 'vitest';
import { Writer } from '../../../test/figures/scene.ts';
import { recordedLessons, shownScene } from '../../../test/fixtures/recordings.ts';
import { ns } from '../../base/units.ts';
import type { Frame } from '../../derive/types.ts';
import { laneNow } from './now.ts';
import { backSoFar, backsOfBlock, newness, refillsOf } from './refill.ts';
import { sumsOf } from './scans.ts';

const [recorded] = recordedLessons('04-extent-shrinker');
const shown = (step: string) =>
  shownScene(recorded!, recorded!.lesson.scenes.find(({ id }) => id === step)!);
const at = (frame: Frame, visits: number): Frame => ({ ...frame, moment: ns(visits * 1000 + 1) });

test('nothing has more entries than were written and came back', () => {
  for (const step of ['budget', 'thousands', 'verdict']) {
    const { index, frameAt, scene } = shown(step);
    const written = scene.params['written'] ?? 0;
    for (const lane of index.lanes) {
      const one = laneNow({ index, frame: frameAt(1) }, lane, false);
      const { freed } = sumsOf(one.facts, 0, one.now.visits);
      const there = one.boxes.there.filter((is, box) => is === 1 && one.boxes.letter[box] === 2);
      expect(there.length).toBe(written + backSoFar(lane, one.points) - freed);
    }
  }
});

test('the list has freed all 256 after 256 looks, and then 256 come back at once', () => {
  const { index, frameAt } = shown('budget');
  const lane = index.lanes.find(({ arm }) => arm === 'evictable-list')!;
  const state = (visits: number) => laneNow({ index, frame: at(frameAt(1), visits) }, lane, false);
  expect(refillsOf(lane, 300)).toEqual([256]);
  expect(backSoFar(lane, state(255).points)).toBe(0);
  const after = state(260);
  expect(backSoFar(lane, after.points)).toBe(256);
  const fresh = [...after.blocks].filter((_, box) => newness(after.boxes, box, after.now) > 0);
  expect(fresh).toHaveLength(252);
  expect(backsOfBlock(lane, fresh[0]!, after.now.t)).toBe(1);
  // A scan later they are entries like any other.
  const later = state(290);
  expect([...later.blocks].some((_, box) => newness(later.boxes, box, later.now) > 0)).toBe(false);
});

test('picture, figures and sentence say how many came back', () => {
  const writer = new Writer(shown('budget'));
  const frame = at(writer.shown.frameAt(1), 260);
  const before = at(writer.shown.frameAt(1), 250);
  const back = ({ figures }: ReturnType<Writer['sentence']>) =>
    figures.filter(({ what }) => what === 'put back').map(({ arm, value }) => [arm, value]);
  expect(back(writer.picture(frame))).toEqual([['evictable-list', 256]]);
  expect(back(writer.sentence(frame))).toEqual([['evictable-list', 256]]);
  expect(back(writer.sentence(before))).toEqual([]);
  expect(writer.sentence(frame).words[0]).toContain('(256 entries were put back)');
});
