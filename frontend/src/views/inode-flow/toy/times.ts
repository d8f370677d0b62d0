// SPDX-License-Identifier: GPL-2.0-or-later
/** How long inodes of a run take: to be inactivated, to be used again, to outlive their shadow. Medians of stock. */

import { quantile } from '../../../base/columns.ts';
import { t } from '../../../base/lang/t.ts';
import { formatNs, millisecond } from '../../../base/units.ts';
import type { RunIndex } from '../../../derive/types.ts';
import type { Lesson } from '../../../protocol/lesson.ts';
import type { Times } from '../../../toys/types.ts';
import { lifeOf } from '../layout.ts';
import { type Life, never } from '../lives.ts';

/** Where no run has them, ns. */
const chosen = {
  work: millisecond,
  again: 3 * millisecond,
  shadow: 14 * millisecond,
  asked: 6 * millisecond,
  whole: 9 * millisecond,
};
/** Before the unlink, and after the longest wait that no reader makes longer; in waits. */
const lead = 0.35;
const tail = 0.5;

export function inodeTimes(index: RunIndex | null, lesson: Lesson): Times {
  const found = index === null ? null : measured(index, lesson);
  if (found === null) return laid(chosen, null);
  const { work, again, asked, whole, shadow } = found;
  const words = [
    t(
      'on stock {work} from an unlink until the inode is free, {again} to its next file, {shadow} to the end of its shadow',
      { work: formatNs(work), again: formatNs(again), shadow: formatNs(shadow) },
    ),
    t('where somebody asks, {asked} to the end of the shadow, and {whole} for a wait', {
      asked: formatNs(asked),
      whole: formatNs(whole),
    }),
  ];
  return laid(found, t('{words}; each the median', { words: words.join('; ') }));
}

function measured(index: RunIndex, lesson: Lesson): typeof chosen | null {
  const lane = index.lanes.find((one) => one.arm === 'stock');
  const asking = index.lanes.find((one) => one.arm === 'wait-at-recycle');
  if (lane === undefined || asking === undefined) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const other = lifeOf(index, asking, lesson).lives;
  const ages = (all: readonly Life[], of: (life: Life) => number) =>
    all.map((life) => of(life) - life.unlinked).filter((age) => Number.isFinite(age) && age > 0);
  const waits = other.waits.map(({ t0, t1 }) => t1 - t0).filter((ns) => ns < never);
  const columns = {
    work: ages(lives.all, (life) => life.inactivated),
    again: ages(lives.all, (life) => life.next),
    shadow: ages(lives.all, (life) => life.shadowEnd),
    asked: ages(other.all, (life) => life.shadowEnd),
    whole: waits,
  };
  if (Object.values(columns).some((all) => all.length === 0)) return null;
  const median = (name: keyof typeof columns) => quantile(columns[name], 0.5);
  return {
    ...{ work: median('work'), again: median('again'), shadow: median('shadow') },
    ...{ asked: median('asked'), whole: median('whole') },
  };
}

function laid(found: typeof chosen, from: string | null): Times {
  const { again, asked, whole, shadow } = found;
  const unlink = lead * whole;
  const work = Math.min(found.work, whole);
  const create = unlink + Math.min(asked, Math.max(again, work * 1.2));
  return {
    at: { unlink, work, create, asked, whole, shadow },
    span: unlink + asked + (1 + tail) * whole,
    from,
  };
}
