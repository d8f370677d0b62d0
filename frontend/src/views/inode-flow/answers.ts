// SPDX-License-Identifier: GPL-2.0-or-later
/** Answers to predictions, from the events of the run. */

import { t } from '../../base/lang/t.ts';
import { formatCount } from '../../base/units.ts';
import { choiceOf, scopeWords } from '../../derive/prediction.ts';
import { laneOf, lostIn } from '../../derive/query.ts';
import { armTitle } from '../../derive/words.ts';
import type { Answerer } from '../contract.ts';
import { lifeOf } from './layout.ts';
import { tallyOf } from './tally.ts';

/** Fewer prove nothing. */
const least = 50;

/** Of a hundred reuses on the first arm, so many inside the shadow. */
const earlyShare: Answerer = (index, prediction, lesson) => {
  const lane = laneOf(index, prediction.arms[0]);
  if (lane === null || lostIn(lane, 0, lane.watermark)) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const { early, reused } = tallyOf(lane, lives, lane.watermark);
  if (reused < least) return null;
  const value = (early / reused) * 100;
  const words = t('{scope} {early} of {reused} on {name}: {value} of a hundred.', {
    scope: scopeWords(index),
    early: formatCount(early),
    reused: formatCount(reused),
    name: armTitle(lesson, lane),
    value: Math.round(value),
  });
  return { value, choice: choiceOf(prediction, value), words };
};

/** Waits for the backlog on the first arm. */
const throttles: Answerer = (index, prediction, lesson) => {
  const lane = laneOf(index, prediction.arms[0]);
  if (lane === null || lostIn(lane, 0, lane.watermark)) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const { queued, throttles: value } = tallyOf(lane, lives, lane.watermark);
  if (queued < least) return null;
  const words = t(
    '{scope} who unlinks on {name} had to wait {value, plural, =1 {once} other {# times}} for {queued} inodes.',
    {
      scope: scopeWords(index),
      name: armTitle(lesson, lane),
      value,
      queued: formatCount(queued),
    },
  );
  return { value, choice: choiceOf(prediction, value), words };
};

export const answers: Readonly<Record<string, Answerer>> = {
  early_share: earlyShare,
  throttle_waits: throttles,
};
