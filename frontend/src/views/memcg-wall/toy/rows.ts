// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy's lanes: the walk, who adds an object, and what memory holds. */

import { t } from '../../../base/lang/t.ts';
import type { Item, Row, Setting, Times } from '../../../toys/types.ts';
import type { Care, Op, Outcome } from './rule.ts';

/** The barrier stands half-way between the clear and the second look. */
export function barrierAt({ at }: Times): number {
  return (at['clear']! + at['again']!) / 2;
}

export function walkRow(times: Times, setting: Setting, care: Care, outcome: Outcome): Row {
  const { at } = times;
  const { foundFirst, foundAgain } = outcome;
  const code = { kind: 'step', code: true } as const;
  const cleared = { off: foundFirst };
  const second = { off: foundFirst || !care.second };
  const items: Item[] = [
    { ...code, at: at['look']!, label: 'do_shrink_slab()', face: 'work' },
    {
      ...{ ...code, ...cleared, at: setting.at['clear']!, label: 'clear_bit()' },
      ...{ face: 'mechanism', handle: 'clear' },
    },
    {
      ...{ ...code, at: barrierAt(times), label: 'smp_mb__after_atomic()', face: 'other' },
      off: foundFirst || !care.walkBarrier || !care.second,
    },
    { ...code, ...second, at: at['again']!, label: 'do_shrink_slab()', face: 'work' },
  ];
  if (foundAgain) {
    const after = Math.max(at['again']!, setting.at['clear']!);
    items.push({
      ...{ ...code, at: after + times.span * 0.02 },
      ...{ label: 'set_shrinker_bit()', face: 'gain' },
    });
  }
  return { name: 'walk', title: t('the walk'), items };
}

export function arrivalRow(setting: Setting, care: Care): Row {
  const { add, set } = setting.at as { add: number; set: number };
  const code = { kind: 'step', code: true } as const;
  return {
    name: 'arrival',
    title: t('who adds an object'),
    items: [
      { ...code, at: add, label: 'list_add_tail()', face: 'work', handle: 'add' },
      {
        ...{ ...code, at: (add + set) / 2, label: 'smp_mb__before_atomic()', face: 'other' },
        off: !care.addBarrier,
      },
      { ...code, at: set, label: 'set_bit()', face: 'mechanism', handle: 'set' },
    ],
  };
}

export function listRow(times: Times, setting: Setting, { lost }: Outcome): Row {
  const from = setting.at['add']!;
  const stretch = { kind: 'stretch', from, to: times.span } as const;
  return {
    name: 'list',
    title: t('on the list'),
    items: [
      lost
        ? { ...stretch, label: t('one object, and nobody asks'), face: 'hazard', look: 'hatched' }
        : { ...stretch, label: t('one object'), face: 'work', look: 'solid' },
    ],
  };
}

export function bitRow(times: Times, setting: Setting, { after }: Outcome): Row {
  const when = { ...times.at, ...setting.at } as Record<Op, number>;
  const items: Item[] = [];
  let from = 0;
  let bit = true;
  const until = (to: number) => {
    const stretch = { kind: 'stretch', from, to } as const;
    if (to <= from) return;
    if (bit) items.push({ ...stretch, label: 'set', face: 'mechanism', look: 'solid' });
    else items.push({ ...stretch, label: 'clear', face: 'vain', look: 'hollow' });
  };
  for (const step of after) {
    if (step.bit === bit) continue;
    until(when[step.op]);
    [from, bit] = [when[step.op], step.bit];
  }
  until(times.span);
  return { name: 'bit', title: t('the bit'), items };
}
