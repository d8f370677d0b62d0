// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of lesson 06: drag a page fault across a writer, and see which of them waits on two kernels. */

import { quantile } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatNs, millisecond } from '@page/base/units.ts';
import { spansIn } from '@page/derive/query.ts';
import type { RunIndex } from '@page/derive/types.ts';
import type { Item, Limits, Play, Row, Setting, Times, Toy } from '@page/toys/types.ts';

// A model of one writer and one page fault. Pure. All times are in ns.
//
// Sources, Linux 7.3: do_user_addr_fault() in arch/x86/mm/fault.c, vma_start_read() and __vma_start_write() in
// mm/mmap_lock.c, __vmf_anon_prepare() in mm/memory.c.

export interface Race {
  /** When the writer asks for mmap_lock, and how long its change takes. */
  readonly writer: number;
  readonly change: number;
  /** The page fault if it meets nobody. */
  readonly fault: { readonly from: number; readonly to: number };
  /** Whether the fault is in the region that changes. */
  readonly same: boolean;
  /** Whether the region of the fault has no anon_vma yet. */
  readonly first: boolean;
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** What happens to the writer and to the fault. An interval of no length means that it does not wait. */
export interface Fate {
  readonly writerWaits: Interval;
  readonly change: Interval;
  readonly faultWaits: Interval;
  readonly fault: Interval;
  /** What the fault did before it gave up its VMA's lock; null if it did not. */
  readonly vain: Interval | null;
}

export const lengthOf = ({ from, to }: Interval) => to - from;

/** A fault needs the anon_vma after this share of its work. */
const needed = 1 / 3;

const none = (at: number): Interval => ({ from: at, to: at });

/** Return the fate if neither of the two waits. */
function apart({ writer, change, fault }: Race): Fate {
  return {
    writerWaits: none(writer),
    change: { from: writer, to: writer + change },
    faultWaits: none(fault.from),
    fault,
    vain: null,
  };
}

/** Return the fate of a fault that waits for the end of the change from `asks` on. */
function faultLast(race: Race, changeFrom: number, asks: number, vain: Interval | null): Fate {
  const end = changeFrom + race.change;
  return {
    writerWaits: { from: race.writer, to: changeFrom },
    change: { from: changeFrom, to: end },
    faultWaits: { from: asks, to: end },
    fault: { from: end, to: end + lengthOf(race.fault) },
    vain,
  };
}

/** Return the fate of a writer that waits for the end of the fault. */
function writerLast(race: Race): Fate {
  const from = race.fault.to;
  return {
    ...apart(race),
    writerWaits: { from: race.writer, to: from },
    change: { from, to: from + race.change },
  };
}

const meets = (race: Race, at: number) => at >= race.writer && at < race.writer + race.change;

export function oneLock(race: Race): Fate {
  const { fault, writer } = race;
  if (meets(race, fault.from)) return faultLast(race, writer, fault.from, null);
  if (fault.from < writer && fault.to > writer) return writerLast(race);
  return apart(race);
}

export function vmaLocks(race: Race): Fate {
  const { fault, writer, same, first } = race;
  const needs = fault.from + needed * lengthOf(fault);
  const vain = { from: fault.from, to: needs };
  if (same && meets(race, fault.from)) return faultLast(race, writer, fault.from, null);
  if (same && fault.from < writer && fault.to > writer) {
    // The fault has its VMA's lock, and the writer has mmap_lock and waits for the fault. So the fault must not wait.
    if (first && needs >= writer) return faultLast(race, needs, needs, vain);
    return writerLast(race);
  }
  if (first && meets(race, needs)) return faultLast(race, writer, needs, vain);
  return apart(race);
}

/** Tell whether each would wait for the other if the fault waited for mmap_lock while it has its VMA's lock. */
export function circular(race: Race): boolean {
  const needs = race.fault.from + needed * lengthOf(race.fault);
  return (
    race.same &&
    race.first &&
    race.fault.from < race.writer &&
    race.fault.to > race.writer &&
    needs >= race.writer
  );
}

// Durations from a run: the median change, and the median fault.

const chosen = { change: 14 * millisecond, fault: 0.06 * millisecond };
/** Length of the axis, and of the fault at first, in changes. */
const span = 3.4;
const longFault = 0.3;

function raceTimes(index: RunIndex | null): Times {
  const lengths = (kind: string): readonly number[] =>
    (index?.lanes ?? []).flatMap((lane) =>
      [...spansIn(lane, 'function', 0, Number.POSITIVE_INFINITY)]
        .filter((one) => !one.open && index!.kinds[one.kind]?.name === kind)
        .map((one) => one.t1 - one.t0),
    );
  const changes = lengths('in_mprotect');
  const faults = [...lengths('under_vma'), ...lengths('under_mmap')];
  const median = (all: readonly number[], usual: number) =>
    all.length > 0 ? quantile(all, 0.5) : usual;
  const change = median(changes, chosen.change);
  const fault = median(faults, chosen.fault);
  const found = changes.length > 0 && faults.length > 0;
  return {
    at: { change, fault },
    span: span * change,
    from: found
      ? tr(
          '{change} in mprotect(), median. The page faults of the run take {fault}; your page fault is longer at first, so that you can see it',
          { change: formatNs(change), fault: formatNs(fault) },
        )
      : null,
  };
}

export function raceOf({ at }: Times, setting: Setting): Race {
  const { writer, fault, end } = setting.at as { writer: number; fault: number; end: number };
  return {
    writer,
    change: at['change']!,
    fault: { from: fault, to: end },
    same: setting.on['same'] === true,
    first: setting.on['first'] === true,
  };
}

function start({ at }: Times): Setting {
  const change = at['change']!;
  const from = 1.9 * change;
  return {
    at: { writer: 0.6 * change, fault: from, end: from + longFault * change },
    on: { same: false, first: false },
  };
}

function limits({ at }: Times, setting: Setting, handle: string): Limits {
  const change = at['change']!;
  const { fault, end } = setting.at as { fault: number; end: number };
  if (handle === 'writer') return { min: 0.1 * change, max: 1.2 * change };
  if (handle === 'end') return { min: fault + 0.05 * change, max: fault + 0.8 * change };
  return { min: 0, max: 2.5 * change - (end - fault) };
}

function move(_times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'fault') at['end'] = to + setting.at['end']! - setting.at['fault']!;
  return { ...setting, at };
}

function waitWords({ writerWaits, faultWaits, vain }: Fate): string {
  const writer = lengthOf(writerWaits);
  const fault = lengthOf(faultWaits);
  const again = vain ? tr(' The fault begins again under mmap_lock.') : '';
  if (writer > 0 && fault > 0)
    return tr('the writer waits {writer}, and the fault waits {fault}.', {
      writer: formatNs(writer),
      fault: formatNs(fault),
    }).concat(again);
  if (fault > 0) return tr('the fault waits {fault}.', { fault: formatNs(fault) }).concat(again);
  if (writer > 0) return tr('the writer waits {writer}.', { writer: formatNs(writer) });
  return tr('neither of them waits.');
}

function rowsOf(name: string, titles: readonly [string, string], fate: Fate): readonly Row[] {
  const waits = (from: number, to: number): Item[] =>
    to > from
      ? [
          {
            kind: 'stretch',
            from,
            to,
            label: tr('waits'),
            face: 'wait',
            look: 'hatched',
            terse: true,
          },
        ]
      : [];
  const solid = (
    { from, to }: Interval,
    label: string,
    face: 'work' | 'gain' | 'vain' | 'hazard',
  ) => ({ kind: 'stretch', from, to, label, face, look: 'solid', terse: true }) as const;
  const { writerWaits, change, faultWaits, fault, vain } = fate;
  return [
    {
      name: `${name}-writer`,
      title: titles[0],
      items: [...waits(writerWaits.from, writerWaits.to), solid(change, 'mprotect()', 'work')],
      face: lengthOf(writerWaits) > 0 ? 'wait' : 'gain',
    },
    {
      name: `${name}-fault`,
      title: titles[1],
      items: [
        ...(vain ? [solid(vain, tr('in vain'), 'vain')] : []),
        ...waits(faultWaits.from, faultWaits.to),
        solid(fault, tr('page fault'), name === 'one' ? 'hazard' : 'gain'),
      ],
      verdict: waitWords(fate),
      face: lengthOf(faultWaits) > 0 ? 'wait' : 'gain',
    },
  ];
}

function outcome(race: Race, one: Fate, vma: Fate): Play['outcome'] {
  if (circular(race))
    return {
      face: 'mechanism',
      words: tr(
        'The writer has mmap_lock and waits for the fault. The fault has its VMA lock and needs mmap_lock. If the fault waited, neither would ever continue, so the fault gives its VMA lock up.',
      ),
    };
  if (vma.vain)
    return {
      face: 'vain',
      words: tr(
        'The fault needs an anon_vma, and a writer holds mmap_lock. The fault gives its VMA lock up, waits, and begins again.',
      ),
    };
  if (lengthOf(vma.faultWaits) > 0)
    return {
      face: 'wait',
      words: tr('The writer has locked this VMA, so the fault waits on both kernels.'),
    };
  if (lengthOf(vma.writerWaits) > 0)
    return {
      face: 'wait',
      words: tr('The fault has the lock of this VMA, so the writer waits on both kernels.'),
    };
  if (lengthOf(one.faultWaits) > 0 || lengthOf(one.writerWaits) > 0)
    return {
      face: 'gain',
      words: tr(
        'With one lock, the writer or the fault waits for the other. With VMA locks neither waits, because their regions differ.',
      ),
    };
  return { face: 'idle', words: tr('The fault and the writer do not overlap in time.') };
}

function says(race: Race): Readonly<Record<string, string>> {
  const { fault, writer } = race;
  const place = meets(race, fault.from)
    ? tr('comes while the writer works')
    : fault.from < writer
      ? fault.to > writer
        ? tr('is in progress when the writer comes')
        : tr('is over before the writer comes')
      : tr('comes after the writer');
  return {
    fault: place,
    end: tr('the fault takes {fault}', { fault: formatNs(lengthOf(fault)) }),
    writer: tr('comes at {writer}', { writer: formatNs(writer) }),
  };
}

function play(times: Times, setting: Setting): Play {
  const race = raceOf(times, setting);
  const one = oneLock(race);
  const vma = vmaLocks(race);
  const rows: Row[] = [
    {
      name: 'writer',
      title: tr('a thread calls mprotect()'),
      items: [
        {
          ...{ kind: 'step', at: race.writer, label: 'mprotect()', code: true },
          ...{ face: 'work', handle: 'writer' },
        },
      ],
    },
    {
      name: 'fault',
      title: tr('another thread faults'),
      items: [
        {
          ...{ kind: 'stretch', from: race.fault.from, to: race.fault.to, label: tr('page fault') },
          ...{ face: 'mechanism', look: 'solid', handle: 'fault' },
        },
        {
          ...{ kind: 'step', at: race.fault.to, label: '', face: 'mechanism' },
          ...{ handle: 'end', aside: true },
        },
      ],
    },
    ...rowsOf('one', [tr('one lock: the writer'), tr('one lock: the fault')], one),
    ...rowsOf('vma', [tr('VMA locks: the writer'), tr('VMA locks: the fault')], vma),
  ];
  return {
    rows,
    says: says(race),
    outcome: outcome(race, one, vma),
    reached: [
      ...(lengthOf(one.faultWaits) > 0 && lengthOf(vma.faultWaits) + lengthOf(vma.writerWaits) === 0
        ? ['spared']
        : []),
      ...(lengthOf(vma.writerWaits) > 0 ? ['writer'] : []),
      ...(vma.vain ? ['again'] : []),
      ...(circular(race) ? ['circle'] : []),
    ],
  };
}

export const locks: Toy = {
  title: tr('Who waits for whom'),
  ask: tr(
    'One thread changes a region, and another thread has a page fault. Drag the writer, the fault and the end of the fault, turn the two switches, and see on both kernels who waits.',
  ),
  leavesOut: tr(
    'This model has one writer, one page fault and a CPU for each. A fault that takes mmap_lock for an anon_vma holds it for no time.',
  ),
  handles: [
    { name: 'writer', title: tr('the writer') },
    { name: 'fault', title: tr('the page fault') },
    { name: 'end', title: tr('the end of the page fault') },
  ],
  switches: [
    { name: 'same', title: tr('the fault is in the region that changes'), on: false },
    { name: 'first', title: tr('the region of the fault has no anon_vma yet'), on: false },
  ],
  goals: [
    {
      name: 'spared',
      title: tr('Make the fault wait with one lock, but nobody with VMA locks.'),
      can: () => tr('Yes: the fault comes while the writer works, in another region.'),
    },
    {
      name: 'writer',
      title: tr('Make the writer wait with VMA locks.'),
      can: () => tr('Yes: a fault in the same region is in progress when the writer comes.'),
    },
    {
      name: 'again',
      title: tr('Make the fault give its VMA lock up and begin again.'),
      can: () =>
        tr(
          'Yes: the region has no anon_vma, and a writer holds mmap_lock when the fault needs it.',
        ),
    },
    {
      name: 'circle',
      title: tr(
        'Find the case in which the writer and the fault would wait for each other if the fault waited for mmap_lock.',
      ),
      can: () =>
        tr(
          'Yes: both switches are on, and the writer comes early in the fault, before it needs its anon_vma.',
        ),
    },
  ],
  times: raceTimes,
  start,
  limits,
  move,
  play,
};
