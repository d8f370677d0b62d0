// SPDX-License-Identifier: GPL-2.0-or-later
/** The truth about predictions, counts of the run, and the marks near a moment: all from visits reported one by one. */

import { t } from '../../base/lang/t.ts';
import { formatCount, ns } from '../../base/units.ts';
import { type Answer, choiceOf } from '../../derive/prediction.ts';
import { momentWords, stepNs } from '../../derive/retime.ts';
import type { NearbyRow } from '../../derive/summary.ts';
import type { Frame, LaneIndex, RunIndex } from '../../derive/types.ts';
import { armTitle, capital } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Answerer, Counts } from '../contract.ts';
import { blocksOf, fates, letterOf, letters } from './block-replay.ts';
import { backText, eachFreed, scansSoFar, soFar } from './figures.ts';
import { boxMark } from './marks.ts';
import { laneNow } from './now.ts';
import { backSoFar } from './refill.ts';
import { type Facts, factsOf, sumsOf } from './scans.ts';

type Reading = (facts: Facts, name: string) => { value: number; words: string } | null;

/** Read off the first of a prediction's arms. */
function reading(read: Reading): Answerer {
  return (index, prediction, lesson): Answer | null => {
    const lane = index.lanes.find((one) => one.arm === prediction.arms[0]);
    if (lane === undefined || lane.losses.length > 0) return null;
    const found = read(factsOf(lane), capital(armTitle(lesson, lane)));
    return found === null ? null : { ...found, choice: choiceOf(prediction, found.value) };
  };
}

export const answers: Readonly<Record<string, Answerer>> = {
  first_scan_visits: reading((facts, name) => {
    const first = facts.scans[0];
    if (first === undefined || first.open) return null;
    const { visited, freed } = sumsOf(facts, first.from, first.to);
    const words = t(
      '{name} looked at {visited, plural, one {# entry} other {# entries}} in its first scan and freed {freed}.',
      { name, visited, freed: formatCount(freed) },
    );
    return { value: visited, words };
  }),
  first_gain_scan: reading((facts, name) => {
    const n = facts.firstGain;
    const all = facts.scans.length;
    if (n === 0)
      return all === 0
        ? null
        : {
            value: 0,
            words: t(
              '{name}: none of {all, plural, one {# scan} other {# scans}} freed anything.',
              { name, all },
            ),
          };
    return {
      value: n,
      words: t('{name} freed its first entry in scan {n}.', { name, n: formatCount(n) }),
    };
  }),
};

/** Up to the moment; nothing for a lane of which that is not known yet. */
export function counts(index: RunIndex, frame: Frame): Counts {
  // Nobody is spared where no entry was in use.
  const refilled = index.lanes.some((lane) => backSoFar(lane, lane.points.length) > 0);
  const spared = index.lanes.some((lane) => lane.points.length > 0 && sparesAny(lane));
  const heads = [
    t('scans'),
    t('visited'),
    t('freed'),
    t('kept'),
    ...(spared ? [t('spared')] : []),
    t('visited per freed'),
    ...(refilled ? [t('put back')] : []),
  ];
  const names = ['visited', 'freed', 'kept', ...(spared ? (['spared'] as const) : [])] as const;
  const rows = index.lanes.map((lane): [string, string[]] => {
    const one = laneNow({ index, frame }, lane);
    if (one.now.beyond) return [lane.arm, []];
    const made = refilled ? [backText(one)] : [];
    const sums = names.map((name) => soFar(one, name));
    return [lane.arm, [scansSoFar(one), ...sums, eachFreed(one), ...made]];
  });
  return { heads, rows: new Map(rows) };
}

function sparesAny(lane: LaneIndex): boolean {
  const { upTo, visits } = factsOf(lane);
  return upTo[1][visits]! > 0;
}

const mostNearby = 50;

/** Visits nearest to the moment on all lanes, at most 50. */
export function nearby(index: RunIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const each = Math.floor(mostNearby / Math.max(1, index.lanes.length));
  return index.lanes.flatMap((lane) => visitsNear(index, frame, lesson, lane, each));
}

function visitsNear(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  lane: LaneIndex,
  most: number,
): NearbyRow[] {
  const state = laneNow({ index, frame }, lane);
  const visit = lane.pointsOf('visit');
  const blocks = blocksOf(index);
  const { scans } = state.facts;
  // What is past: the picture tells nothing of what comes.
  const from = Math.max(0, state.now.visits - most);
  const shift = frame.offset.get(lane.arm) ?? 0;
  const rows: NearbyRow[] = [];
  for (let v = from; v < state.now.visits; v++) {
    const i = visit.order[v]!;
    const { points } = lane;
    const box = blocks.indexOf(points.b[i]!);
    const scan = scans.find((one) => v >= one.from && v < one.to);
    const t0 = ns((v + 1) * stepNs + shift);
    const letter = letters[letterOf(points.d[i]!)] ?? '';
    rows.push({
      mark: { ...boxMark(state, lesson, Math.max(0, box)), id: points.id[i]!, t0, t1: t0 },
      t0,
      when: momentWords(index.axis, t0),
      lane: armTitle(lesson, lane),
      row: t('block {n} {letter}', { n: formatCount(points.b[i]!), letter }),
      what: t(
        'visited, {fate, select, kept {kept} referenced {referenced} freed {freed} other {reported}}',
        { fate: fates[points.e[i]!] ?? 'reported' },
      ),
      length: scan === undefined ? '' : t('scan {n}', { n: formatCount(scan.number) }),
      cpu: String(points.cpu[i]!),
    });
  }
  return rows;
}
