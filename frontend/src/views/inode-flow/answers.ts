// SPDX-License-Identifier: GPL-2.0-or-later
/** Answers to predictions, from the events of the run. */

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
  const words = `${scopeWords(index)} ${formatCount(early)} of ${formatCount(reused)} on ${armTitle(lesson, lane)}: ${Math.round(value)} of a hundred.`;
  return { value, choice: choiceOf(prediction, value), words };
};

/** Waits for the backlog on the first arm. */
const throttles: Answerer = (index, prediction, lesson) => {
  const lane = laneOf(index, prediction.arms[0]);
  if (lane === null || lostIn(lane, 0, lane.watermark)) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const { queued, throttles: value } = tallyOf(lane, lives, lane.watermark);
  if (queued < least) return null;
  const words = `${scopeWords(index)} who unlinks on ${armTitle(lesson, lane)} had to wait ${value === 1 ? 'once' : `${formatCount(value)} times`} for ${formatCount(queued)} inodes.`;
  return { value, choice: choiceOf(prediction, value), words };
};

export const answers: Readonly<Record<string, Answerer>> = {
  early_share: earlyShare,
  throttle_waits: throttles,
};
