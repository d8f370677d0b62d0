// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the wall: an object is added while a walk clears the object's bit. */

import { t } from '@page/base/lang/t.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Item, Limits, Play, Row, Setting, Times, Toy } from '@page/toys/types.ts';
import { clearingsOf } from './clearings.ts';

// A walk clears a bit while a task adds an object. Pure. The walk is shrink_slab_memcg() in mm/vmscan.c:
// do_shrink_slab(), clear_bit(), a barrier, do_shrink_slab() again. The task runs list_lru_add() in mm/list_lru.c:
// list_add_tail() under the list's lock, a barrier, set_bit(). The barriers are smp_mb__after_atomic() in the walk and
// smp_mb__before_atomic() in set_shrinker_bit(). This model is a state machine over the order in which memory sees the
// five steps. Without a barrier, a store can wait in its CPU's store buffer and become visible only after the next
// step. So the clear can become visible after the second check has read the list, and the object can become visible
// after its bit. The first check decides whether the walk clears the bit, so no step of the walk comes before the first
// check. The walk's own set never comes before its clear, because both write the same word.

/** The five steps: the walk has `look`, `clear` and `again`; the task that adds an object has `add` and `set`. */
export type Op = 'look' | 'clear' | 'again' | 'add' | 'set';

/** The safeguards in the kernel's code. */
export interface Care {
  /** Whether the walk checks a second time after the clear. */
  readonly second: boolean;
  /** Whether the clear is visible before the second check. */
  readonly walkBarrier: boolean;
  /** Whether the object is visible before its bit. */
  readonly addBarrier: boolean;
}

interface Outcome {
  /** Whether the object is on the list while its bit is clear, so that no walk will look for the object. */
  readonly lost: boolean;
  /** Whether the first check found the object, so that nothing was cleared. */
  readonly foundFirst: boolean;
  /** Whether the second check found the object, so that the walk set the bit again. */
  readonly foundAgain: boolean;
  /** The number of objects on the list and the state of the bit after each step. */
  readonly after: readonly { readonly op: Op; readonly objects: number; readonly bit: boolean }[];
}

/** Return the steps of the walk and of the adding task with these safeguards. */
function opsOf(care: Care): readonly Op[] {
  return care.second ? ['look', 'clear', 'again', 'add', 'set'] : ['look', 'clear', 'add', 'set'];
}

/** Tell whether memory may see the steps in this order. */
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

/** Return every order in which memory may see the steps. */
export function orders(care: Care): readonly (readonly Op[])[] {
  return permutations(opsOf(care)).filter((order) => possible(order, care));
}

function permutations(ops: readonly Op[]): readonly (readonly Op[])[] {
  if (ops.length <= 1) return [ops];
  return ops.flatMap((op) =>
    permutations(ops.filter((other) => other !== op)).map((rest) => [op, ...rest]),
  );
}

/** Run the steps in the order in which memory sees them, starting with a set bit and an empty list. */
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
    // If the second check found the object, the walk's set_bit() follows the clear, so the bit stays set.
    if (op === 'clear' && !foundFirst) bit = foundAgain;
    if (op === 'again' && !foundFirst && objects > 0) {
      foundAgain = true;
      bit = true;
    }
    after.push({ op, objects, bit });
  }
  return { lost: objects > 0 && !bit, foundFirst, foundAgain, after };
}

/** Count all orders, and those that lose the object. */
export function count(care: Care): { readonly all: number; readonly lost: number } {
  const every = orders(care);
  return { all: every.length, lost: every.filter((order) => outcomeOf(order).lost).length };
}

// Finds the times of the median clearing in the run.

/** Room before and after the walk, as a share of the walk's length. */
const room = 0.75;
/** Times that are used if there is no run, ns. */
const chosen = { clear: 400, again: 1000 };

interface Cleared {
  readonly memcg: number;
  readonly id: number;
  /** Times from the first check to the clear, and from the first to the second check, ns. */
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
    return laid(found, t('check, clear and second check of {what}', { what }));
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

/** Return the lane's clearings that were recorded step by step. */
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

// Describes in words the position of a step, and the outcome.

/** For each handle, say which steps come before and after it. */
function sayings(order: readonly Op[], { lost }: Outcome): Readonly<Record<string, string>> {
  const place = (op: Op) => {
    const at = order.indexOf(op);
    const [before, after] = [order[at - 1], order[at + 1]];
    if (before === undefined)
      return after === undefined
        ? t('before all others')
        : t(
            'before all others, before {after, select, look {the first check} clear {the clear} again {the second check} add {the object} other {its bit}}',
            { after },
          );
    return after === undefined
      ? t(
          'after {before, select, look {the first check} clear {the clear} again {the second check} add {the object} other {its bit}}',
          { before },
        )
      : t(
          'after {before, select, look {the first check} clear {the clear} again {the second check} add {the object} other {its bit}}, before {after, select, look {the first check} clear {the clear} again {the second check} add {the object} other {its bit}}',
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
      ? t(
          "The first check came before the object was added, and the clear came after the object's bit was set.",
        )
      : before('again', 'clear')
        ? t(
            'The second check read the list before memory saw the clear, so the check came too early.',
          )
        : t('Memory saw the bit before the object, so the second check found an empty list.');
    return t(
      'Lost. {why} The object is on the list and its bit is clear, so no walk will ever look for it.',
      { why },
    );
  }
  if (outcome.foundFirst)
    return t('The first check finds the object, so the walk does not clear the bit.');
  if (outcome.foundAgain)
    return t(
      'The bit was cleared, but the second check finds the object and sets the bit again, so the next walk visits it.',
    );
  return t('The object sets its bit after the clear, so the next walk visits it.');
}

// Builds the toy's rows: the walk, the task that adds an object, the list, and the bit.

/** The barrier is drawn half-way between the clear and the second check. */
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
    title: t('a task adds an object'),
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
            label: t('one object that no walk looks for'),
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

/** The least distance between two steps, as a share of the axis. */
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

/** Move a handle. When the object moves, its bit moves as well. */
function move(times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'add') {
    const along = setting.at['set']! + to - setting.at['add']!;
    const min = careOf(setting).addBarrier ? to + times.span * least : 0;
    at['set'] = Math.min(times.span, Math.max(min, along));
  }
  return { ...setting, at };
}

/** Return the order in which memory sees the steps. */
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

/** Try every order, and say whether any of them loses the object. */
function tried(care: Care): string {
  const { all, lost } = count(care);
  if (lost === 0) return t('No: the object is lost in none of the {all} possible orders.', { all });
  return t(
    'Yes: of the {all} possible orders, {lost, plural, one {# loses} other {# lose}} the object.',
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
    'The list is empty and its bit is set. A walk checks the list, finds nothing and clears the bit, while a task adds an object. Drag the object, its bit, and the moment at which memory sees the clear. Remove the safeguards one by one, and try to lose the object.',
  ),
  leavesOut: t(
    'On x86 both atomic operations are barriers themselves, so the two macros cost nothing. On arm64, for example, the two macros are instructions.',
  ),
  handles: [
    { name: 'add', title: t('the object is added to the list') },
    { name: 'set', title: t('its bit is set') },
    { name: 'clear', title: t('the clear becomes visible in memory') },
  ],
  switches: [
    { name: 'second', title: t("the walk's second check"), on: true },
    { name: 'walkBarrier', title: t("the walk's barrier"), on: true },
    { name: 'addBarrier', title: t("the adding task's barrier"), on: true },
  ],
  goals: [
    {
      name: 'naive',
      title: t('Lose the object when there is no second check.'),
      can: () => tried({ ...full, second: false }),
    },
    {
      name: 'late',
      title: t('Lose the object although the walk checks a second time: remove one barrier.'),
      can: () =>
        t("Without the walk's barrier: {walk} Without the adding task's barrier: {other}", {
          walk: tried({ ...full, walkBarrier: false }),
          other: tried({ ...full, addBarrier: false }),
        }),
    },
    {
      name: 'whole',
      title: t('Lose the object although all safeguards are on.'),
      can: () => tried(full),
    },
  ],
  times: walkTimes,
  start,
  limits,
  move,
  play,
};
