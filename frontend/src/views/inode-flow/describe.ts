// SPDX-License-Identifier: GPL-2.0-or-later
/** A mark in words. */

import { formatMoment, plural } from '../../base/units.ts';
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
  const length = lengthOf(mark) + (mark.open ? ' so far' : '');
  const from = `from ${formatMoment(mark.t0, 1e6)}`;
  const { lives, queues } = lifeOf(index, lane, lesson);
  if (kind.name === 'batch') {
    const batch = queues.batches.find((one) => one.id === mark.id);
    const items = batch?.items ?? 0;
    const n = figure('mark', mark.arm, 'items', items, plural(items, 'inode'), mark);
    return `${arm}, CPU ${mark.row}: the worker has taken ${n}, ${length}, ${from}.`;
  }
  if (kind.name === 'worker_wait') {
    return `${arm}, CPU ${mark.row}: the worker waits for a grace period, ${length}, ${from}.`;
  }
  if (mark.table !== 'points') return `${arm}: ${kind.title}, ${length}, ${from}.`;
  const life = lifeAt(lives, mark.row, mark.t0);
  return `Inode ${mark.row}, ${arm}: ${inodeWords(mark, kind.name, life, length)} ${from}.`;
}

function inodeWords(mark: Mark, kind: string, life: Life | null, length: string): string {
  switch (kind) {
    case 'alive':
      return `a file has it, ${length},`;
    case 'queued':
      return `unlinked and queued for the worker, ${length},`;
    case 'free':
      return `inactivated; the next file may have it, ${length},`;
    case 'shadow':
      return `an old reader may still look, ${length},`;
    case 'wait_gp':
      return `who creates a file is given it and waits for its grace period, ${length},`;
    case 'early': {
      const before = life?.before;
      if (life === null || before == null) return 'used again inside its shadow,';
      const left = shadowLeft(mark.arm, life, before);
      const words = left === null ? '' : `, ${left} before its grace period ended,`;
      return `used again ${ageAtReuse(mark.arm, life, before, mark)} after it was let go${words}`;
    }
    case 'reuse':
      return life?.before == null
        ? 'used again,'
        : `used again after its shadow, ${ageAtReuse(mark.arm, life, life.before, mark)} after it was let go,`;
    default:
      return `${kind}, ${length},`;
  }
}
