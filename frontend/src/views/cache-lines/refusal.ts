// SPDX-License-Identifier: GPL-2.0-or-later
/** What a lesson calls its object and operation, and why something cannot be shown: a sentence instead of zeros. */

import { t } from '../../base/lang/t.ts';
import { formatCount, formatFigure } from '../../base/units.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { countsOf } from './cells.ts';
import { totalsOf } from './counted.ts';
import { countedOf } from './streams.ts';

type Nouns = Pick<Lesson, 'operation' | 'microscope'>;

/** "dentry", of 'struct dentry'. */
export function objectName({ microscope }: Pick<Nouns, 'microscope'>): string {
  return microscope?.object.split(' ').at(-1) || t('object');
}

/** "4 stats", "1 stat", "14.3 stats". */
export function operationWords(n: number, { operation }: Pick<Nouns, 'operation'>): string {
  const words = formatFigure(n < 100 ? Math.round(n * 10) / 10 : n);
  return `${words} ${words === '1' ? operation.name : operation.plural}`;
}

/** Why no field of the object is known. */
export function noObject(lesson: Nouns): string {
  return t('The x-ray has not found the {object}: which field is where is not known.', {
    object: objectName(lesson),
  });
}

/** Why nothing can be reported of one operation; null: the counts are there. */
export function noCounts(lane: LaneIndex, lesson: Nouns): string | null {
  if (totalsOf(lane) !== null) return null;
  const { name } = lesson.operation;
  const facts = countsOf(lane)?.facts;
  if (facts === undefined) {
    return countedOf(lane).shown === 0
      ? t('No access to the {object} has been counted yet.', { object: objectName(lesson) })
      : t('No whole {name} has been counted yet.', { name });
  }
  if (facts['size'] === 0) return t('The microscope watched no object in this run.');
  const why = unseen(facts, lesson);
  return t('{why} So nothing is given per {name}.', { why, name });
}

const reasons = [
  ['ops_slept', t('slept or were preempted')],
  ['ops_left', t('left by a jump to another function')],
  ['ops_again', t('began anew before their end')],
] as const;

function unseen(facts: Readonly<Record<string, number>>, lesson: Nouns): string {
  const { name } = lesson.operation;
  const of = (fact: string) => facts[fact] ?? 0;
  const ended = of('ops_ended') || of('ops');
  if (ended > 0) {
    return t('None of {ops} touched the {object}.', {
      ops: operationWords(ended, lesson),
      object: objectName(lesson),
    });
  }
  if (of('ops_begun') === 0 && of('ops_broken') === 0)
    return t('No {name} was seen to begin.', { name });
  const broken = reasons.flatMap(([fact, words]) =>
    of(fact) > 0 ? [`${formatCount(of(fact))} ${words}`] : [],
  );
  const begun = Math.max(of('ops_begun'), of('ops_broken'));
  const ops = operationWords(begun, lesson);
  return broken.length === 0
    ? t('Of {ops} none was seen to end.', { ops })
    : t('Of {ops} none was seen to end: {broken}.', { ops, broken: list(broken) });
}

/** Why there is no order of the accesses, and so no copies and no transfers; null: there is one. */
export function noOrder(lane: LaneIndex, lesson: Nouns): string | null {
  if (countedOf(lane).ops > 0) return null;
  const counts = noCounts(lane, lesson);
  if (counts !== null) return counts;
  return t(
    'The accesses of this run were counted, and too few were saved one by one: no order of them is known.',
  );
}

/** Why no field is said to be the one that everybody writes. */
export function noHot(lane: LaneIndex, lesson: Nouns): string {
  const totals = totalsOf(lane);
  if (totals === null) return noCounts(lane, lesson) ?? '';
  const written = totals.lines.some(({ writes, rmws }) => writes + rmws > 0);
  if (written)
    return t('What is written lies in no known field of the {object}.', {
      object: objectName(lesson),
    });
  return t(
    'No {name} writes to the {lines, plural, one {# line} other {# lines}} of the {object}.',
    { name: lesson.operation.name, lines: totals.lines.length, object: objectName(lesson) },
  );
}

/** Why no rate is predicted on a lane; null: one is, or will be. */
export function noRate(lane: LaneIndex, lesson: Nouns): string | null {
  const { ops, placed } = countedOf(lane);
  if (ops === 0) return lane.ended ? noOrder(lane, lesson) : null;
  if (placed || countsOf(lane) === null) return null;
  return t(
    'No rate is predicted: the model knows where in a stat(2) its accesses lie, and not where in a {name} those of these functions do.',
    { name: lesson.operation.name },
  );
}

/** Why the second act, on an axis of time, has nothing to show; null: it has. */
export function noPath(lane: LaneIndex): string | null {
  if (lane.samples('lockref-counts').length > 0) return null;
  return lane.ended
    ? t(
        'In this workload the axis is time, and the x-ray read no counts of lockref operations: there is nothing to draw.',
      )
    : t('The counts of the kernel have not been read yet.');
}
