// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A walk clears a bit while an object arrives: mm/vmscan.c, shrink_slab_memcg() and set_shrinker_bit(); mm/list_lru.c,
 * list_lru_add(). A small state machine over the order in which memory sees the five steps. Pure.
 *
 *   walk                            arrival
 *     look:  do_shrink_slab()         add:  list_add_tail(), under the lock of the list
 *     clear: clear_bit()              <smp_mb__before_atomic()>
 *     <smp_mb__after_atomic()>        set:  set_bit()
 *     again: do_shrink_slab()
 *
 * Without its barrier a store may wait in the buffer of its CPU and be seen after the step behind it: a clear after
 * the second look has read the list, an object after its bit. The first look decides whether anything is cleared, so
 * nothing comes before it; and the walk's own bit, set anew, never comes before its clear, being one word.
 */

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

export interface Outcome {
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
export function opsOf(care: Care): readonly Op[] {
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
