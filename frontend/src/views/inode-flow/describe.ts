// SPDX-License-Identifier: GPL-2.0-or-later
/** A mark in words. */

import { t } from '../../base/lang/t.ts';
import { formatMoment } from '../../base/units.ts';
import { figure, lengthOf } from '../../derive/figures.ts';
import { laneOf } from '../../derive/query.ts';
import type { Mark, RunIndex } from '../../derive/types.ts';
import { armTitle } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { ageAtReuse, shadowLeft } from './figures.ts';
import { lifeOf } from './layout.ts';
import { type Life, lifeAt } from './lives.ts';

export function describe(index: RunIndex, mark: Mark, lesson: Lesson): string {
  const kind = index.kinds[mark.kind];
  const lane = laneOf(index, mark.arm);
  if (kind === undefined || lane === null) return '';
  const arm = armTitle(lesson, lane);
  const length = lengthOf(mark) + (mark.open ? t(' so far') : '');
  const from = t('from {t0}', { t0: formatMoment(mark.t0, 1e6) });
  const { lives, queues } = lifeOf(index, lane, lesson);
  if (kind.name === 'batch') {
    const batch = queues.batches.find((one) => one.id === mark.id);
    const items = batch?.items ?? 0;
    const n = figure(
      'mark',
      mark.arm,
      'items',
      items,
      t('{items, plural, one {# inode} other {# inodes}}', { items }),
      mark,
    );
    return t('{arm}, CPU {row}: the worker has taken {n}, {length}, {from}.', {
      arm,
      row: mark.row,
      n,
      length,
      from,
    });
  }
  if (kind.name === 'worker_wait') {
    return t('{arm}, CPU {row}: the worker waits for a grace period, {length}, {from}.', {
      arm,
      row: mark.row,
      length,
      from,
    });
  }
  if (mark.table !== 'points') return `${arm}: ${kind.title}, ${length}, ${from}.`;
  const life = lifeAt(lives, mark.row, mark.t0);
  return t('Inode {row}, {arm}: {what} {from}.', {
    row: mark.row,
    arm,
    what: inodeWords(mark, kind.name, life, length),
    from,
  });
}

function inodeWords(mark: Mark, kind: string, life: Life | null, length: string): string {
  switch (kind) {
    case 'alive':
      return t('a file has it, {length},', { length });
    case 'queued':
      return t('unlinked and queued for the worker, {length},', { length });
    case 'free':
      return t('inactivated; the next file may have it, {length},', { length });
    case 'shadow':
      return t('an old reader may still look, {length},', { length });
    case 'wait_gp':
      return t('who creates a file is given it and waits for its grace period, {length},', {
        length,
      });
    case 'early': {
      const before = life?.before;
      if (life === null || before == null) return t('used again inside its shadow,');
      const left = shadowLeft(mark.arm, life, before);
      const age = ageAtReuse(mark.arm, life, before, mark);
      return left === null
        ? t('used again {age} after it was let go', { age })
        : t('used again {age} after it was let go, {left} before its grace period ended,', {
            ...{ age, left },
          });
    }
    case 'reuse':
      return life?.before == null
        ? t('used again,')
        : t('used again after its shadow, {age} after it was let go,', {
            age: ageAtReuse(mark.arm, life, life.before, mark),
          });
    default:
      return `${kind}, ${length},`;
  }
}
