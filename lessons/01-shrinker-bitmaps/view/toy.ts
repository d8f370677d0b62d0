// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the wall: an object arrives while a walk clears its bit. */

import { t } from '@page/base/lang/t.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Item, Limits, Play, Row, Setting, Times, Toy } from '@page/toys/types.ts';
import { clearingsOf } from './clearings.ts';

// A walk clears a bit while an object arrives: mm/vmscan.c, shrink_slab_memcg() and set_shrinker_bit(); mm/list_lru.c,
// list_lru_add(). A small state machine over the order in which memory sees the five steps. Pure.
//
//   walk                            arrival
//     look:  do_shrink_slab()         add:  list_add_tail(), under the lock of the list
//     clear: clear_bit()              <smp_mb__before_atomic()>
//     <smp_mb__after_atomic()>        set:  set_bit()
//     again: do_shrink_slab()
//
// Without its barrier a store may wait in the buffer of its CPU and be seen after the step behind it: a clear after
// the second look has read the list, an object after its bit. The first look decides whether anything is cleared, so
// nothing comes before it; and the walk's own bit, set anew, never comes before its clear, being one word.

export type Op = 'look' | 'clear' | 'again' | 'add' | 'set';

/** What the code takes care of. */
export interface Care {
  /** The walk looks again after the clear. */
  readonly second: boolean;
  /** Its clear is seen before it looks again. */
  readonly walkBarrier: boolean;
  /** An object is seen before its bit. */
  readonly addBarrier: boolean;
}

interface Outcome {
  /** The object is on the list and the bit is clear: no walk will ask. */
  readonly lost: boolean;
  /** The first look found it; nothing was cleared. */
  readonly foundFirst: boolean;
  /** The second look found it, and the walk set the bit anew. */
  readonly foundAgain: boolean;
  /** After each step: objects on the list, and whether the bit is set. */
  readonly after: readonly { readonly op: Op; readonly objects: number; readonly bit: boolean }[];
}

/** Steps of the walk and of the arrival under this care. */
function opsOf(care: Care): readonly Op[] {
  return care.second ? ['look', 'clear', 'again', 'add', 'set'] : ['look', 'clear', 'add', 'set'];
}

/** May memory see the steps in this order? */
export function possible(order: readonly Op[], care: Care): boolean {
  const before = (a: Op, b: Op) => {
    const [i, j] = [order.indexOf(a), order.indexOf(b)];
    return i < 0 || j < 0 || i < j;
  };
  return (
    before('look', 'clear') &&
    before('look', 'again') &&
    (!care.walkBarrier || before('clear', 'again')) &&
    (!care.addBarrier || before('add', 'set'))
  );
}

/** Every order that is possible. */
export function orders(care: Care): readonly (readonly Op[])[] {
  return permutations(opsOf(care)).filter((order) => possible(order, care));
}

function permutations(ops: readonly Op[]): readonly (readonly Op[])[] {
  if (ops.length <= 1) return [ops];
  return ops.flatMap((op) =>
    permutations(ops.filter((other) => other !== op)).map((rest) => [op, ...rest]),
  );
}

/** A bit that is set, an empty list, and the steps in the order in which memory sees them. */
export function outcomeOf(order: readonly Op[]): Outcome {
  let objects = 0;
  let bit = true;
  let foundFirst = false;
  let foundAgain = false;
  const after: Outcome['after'][number][] = [];
  for (const op of order) {
    if (op === 'look') foundFirst = objects > 0;
    if (op === 'add') objects = 1;
    if (op === 'set') bit = true;
    // The walk's own set_bit() follows its clear, whenever that is seen.
    if (op === 'clear' && !foundFirst) bit = foundAgain;
    if (op === 'again' && !foundFirst && objects > 0) {
      foundAgain = true;
      bit = true;
    }
    after.push({ op, objects, bit });
  }
  return { lost: objects > 0 && !bit, foundFirst, foundAgain, after };
}

/** How many orders there are, and how many of them lose the object. */
export function count(care: Care): { readonly all: number; readonly lost: number } {
  const every = orders(care);
  return { all: every.length, lost: every.filter((order) => outcomeOf(order).lost).length };
}

// When a walk of the run looked, cleared and looked again: the pair whose distances are the median of all.

/** Room before and after, as a share of the walk's three steps. */
const room = 0.75;
/** Distances where no run has any, ns. */
const chosen = { clear: 400, again: 1000 };

interface Cleared {
  readonly memcg: number;
  readonly id: number;
  /** From the first look to the clear, and to the second look, ns. */
  readonly clear: number;
  readonly again: number;
}

function walkTimes(index: RunIndex | null, lesson: Lesson): Times {
  for (const lane of index?.lanes ?? []) {
    const found = typical(clearedIn(lane));
    if (found === null) continue;
    const title = lesson.arms.find((arm) => arm.name === lane.arm)?.title ?? lane.arm;
    const what = t('memcg {memcg}, shrinker {id} on {title}', {
      memcg: found.memcg,
      id: found.id,
      title,
    });
    return laid(found, t('look, clear and second look of {what}', { what }));
  }
  return laid(chosen, null);
}

function laid({ clear, again }: Pick<Cleared, 'clear' | 'again'>, from: string | null): Times {
  const look = again * room;
  return {
    at: { look, clear: look + clear, again: look + again },
    span: again * (1 + 2 * room),
    from,
  };
}

/** Clearings that were recorded step by step. */
function clearedIn(lane: LaneIndex): readonly Cleared[] {
  return clearingsOf(lane)
    .map(({ memcg, id, look, clear, again }) => ({
      ...{ memcg, id },
      ...{ clear: clear - look, again: again - look },
    }))
    .filter((one) => one.clear > 0 && one.again > one.clear);
}

function typical(found: readonly Cleared[]): Cleared | null {
  const sorted = found.toSorted((a, b) => a.again - b.again);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

// What the toy says: between which steps something stands, and what comes of it.

/** Between which steps each handle stands. */
function sayings(order: readonly Op[], { lost }: Outcome): Readonly<Record<string, string>> {
  const place = (op: Op) => {
    const at = order.indexOf(op);
    const [before, after] = [order[at - 1], order[at + 1]];
    if (before === undefined)
      return after === undefined
        ? t('before all others')
        : t(
            'before all others, before {after, select, look {the first look} clear {the clear} again {the second look} add {the object} other {its bit}}',
            { after },
          );
    return after === undefined
      ? t(
          'after {before, select, look {the first look} clear {the clear} again {the second look} add {the object} other {its bit}}',
          { before },
        )
      : t(
          'after {before, select, look {the first look} clear {the clear} again {the second look} add {the object} other {its bit}}, before {after, select, look {the first look} clear {the clear} again {the second look} add {the object} other {its bit}}',
          { before, after },
        );
  };
  const says = (op: Op) =>
    t('{place}; {end, select, lost {the object is lost} other {the object is not lost}}', {
      place: place(op),
      end: lost ? 'lost' : 'kept',
    });
  return {
    add: says('add'),
    set: says('set'),
    clear: says('clear'),
  };
}

function words(outcome: Outcome, care: Care, order: readonly Op[]): string {
  const before = (a: Op, b: Op) => order.indexOf(a) < order.indexOf(b);
  if (outcome.lost) {
    const why = !care.second
      ? t('The first look came before the object, the clear after its bit.')
      : before('again', 'clear')
        ? t('The second look read the list before the clear was seen, so it came too early.')
        : t('The bit was seen before the object, so the second look found an empty list.');
    return t(
      'Lost. {why} The object is on the list and its bit is clear: no walk will ever ask for it.',
      { why },
    );
  }
  if (outcome.foundFirst) return t('Found by the first look. The bit is not cleared, and stays.');
  if (outcome.foundAgain)
    return t(
      'The bit was cleared, but the second look finds the object and sets the bit again. The next walk comes.',
    );
  return t('The object sets its bit after the clear. The next walk comes.');
}

// The toy's lanes: the walk, who adds an object, and what memory holds.

/** The barrier stands half-way between the clear and the second look. */
function barrierAt({ at }: Times): number {
  return (at['clear']! + at['again']!) / 2;
}

function walkRow(times: Times, setting: Setting, care: Care, outcome: Outcome): Row {
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

function arrivalRow(setting: Setting, care: Care): Row {
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

function listRow(times: Times, setting: Setting, { lost }: Outcome): Row {
  const from = setting.at['add']!;
  const stretch = { kind: 'stretch', from, to: times.span } as const;
  return {
    name: 'list',
    title: t('on the list'),
    items: [
      lost
        ? {
            ...stretch,
            label: t('one object, and no call asks for it'),
            face: 'hazard',
            look: 'hatched',
          }
        : { ...stretch, label: t('one object'), face: 'work', look: 'solid' },
    ],
  };
}

function bitRow(times: Times, setting: Setting, { after }: Outcome): Row {
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

/** The least distance of two steps, as a share of the line. */
const least = 1 / 200;

function careOf({ on }: Setting): Care {
  return {
    second: on['second'] ?? true,
    walkBarrier: on['walkBarrier'] ?? true,
    addBarrier: on['addBarrier'] ?? true,
  };
}

function start({ at, span }: Times): Setting {
  const add = at['look']! + (at['clear']! - at['look']!) * 0.25;
  const set = at['look']! + (at['clear']! - at['look']!) * 0.75;
  return {
    at: { add, set: Math.max(set, add + span * least), clear: at['clear']! },
    on: { second: true, walkBarrier: true, addBarrier: true },
  };
}

function limits(times: Times, setting: Setting, handle: string): Limits {
  const { span } = times;
  const care = careOf(setting);
  if (handle === 'clear') {
    const held = care.walkBarrier && care.second;
    const max = held ? barrierAt(times) - span * least : span * 0.94;
    return { min: times.at['clear']!, max };
  }
  if (handle === 'set' && care.addBarrier)
    return { min: setting.at['add']! + span * least, max: span };
  return handle === 'set' ? { min: 0, max: span } : { min: 0, max: span * (1 - 4 * least) };
}

/** An object that is moved takes its bit along. */
function move(times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'add') {
    const along = setting.at['set']! + to - setting.at['add']!;
    const min = careOf(setting).addBarrier ? to + times.span * least : 0;
    at['set'] = Math.min(times.span, Math.max(min, along));
  }
  return { ...setting, at };
}

/** The order in which memory sees the steps. */
export function orderOf(times: Times, setting: Setting): readonly Op[] {
  const when = { ...times.at, ...setting.at } as Record<Op, number>;
  return opsOf(careOf(setting)).toSorted((a, b) => when[a] - when[b]);
}

function play(times: Times, setting: Setting): Play {
  const care = careOf(setting);
  const order = orderOf(times, setting);
  const outcome = outcomeOf(order);
  return {
    rows: [
      walkRow(times, setting, care, outcome),
      arrivalRow(setting, care),
      listRow(times, setting, outcome),
      bitRow(times, setting, outcome),
    ],
    says: sayings(order, outcome),
    outcome: {
      words: words(outcome, care, order),
      face: outcome.lost ? 'hazard' : 'gain',
    },
    reached: outcome.lost ? [care.second ? (whole(care) ? 'whole' : 'late') : 'naive'] : [],
  };
}

function whole(care: Care): boolean {
  return care.second && care.walkBarrier && care.addBarrier;
}

/** What trying every order gives. */
function tried(care: Care): string {
  const { all, lost } = count(care);
  if (lost === 0)
    return t('No: of the {all} orders that are possible, none loses the object.', { all });
  return t(
    'Yes: of the {all} orders that are possible, {lost, plural, one {# loses} other {# lose}} the object.',
    {
      all,
      lost,
    },
  );
}

const full: Care = { second: true, walkBarrier: true, addBarrier: true };

export const arrival: Toy = {
  title: t('Lose the object'),
  ask: t(
    'The list is empty and its bit is set. A walk looks, finds nothing and clears the bit, while another task adds an object. Drag the object, its bit, and the moment when memory sees the clear. Remove the precautions one by one, and lose the object.',
  ),
  leavesOut: t(
    'On x86 both atomic operations are barriers themselves and the two macros cost nothing; on arm64, for one, they are instructions.',
  ),
  handles: [
    { name: 'add', title: t('the object comes onto the list') },
    { name: 'set', title: t('its bit is set') },
    { name: 'clear', title: t('the clear is seen in memory') },
  ],
  switches: [
    { name: 'second', title: t('the walk looks again'), on: true },
    { name: 'walkBarrier', title: t('barrier of the walk'), on: true },
    { name: 'addBarrier', title: t('barrier of who adds'), on: true },
  ],
  goals: [
    {
      name: 'naive',
      title: t('Lose it where the walk does not look again.'),
      can: () => tried({ ...full, second: false }),
    },
    {
      name: 'late',
      title: t('Lose it although the walk looks again: take away one barrier.'),
      can: () =>
        t("Without the walk's: {walk} Without the other: {other}", {
          walk: tried({ ...full, walkBarrier: false }),
          other: tried({ ...full, addBarrier: false }),
        }),
    },
    {
      name: 'whole',
      title: t('Lose it with all precautions in place.'),
      can: () => tried(full),
    },
  ],
  times: walkTimes,
  start,
  limits,
  move,
  play,
};
