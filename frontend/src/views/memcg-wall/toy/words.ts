// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy says: between which steps something stands, and what comes of it. */

import type { Care, Op, Outcome } from './rule.ts';

const stepWords: Readonly<Record<Op, string>> = {
  look: 'the first look',
  clear: 'the clear',
  again: 'the second look',
  add: 'the object',
  set: 'its bit',
};

/** Between which steps each handle stands. */
export function sayings(order: readonly Op[], { lost }: Outcome): Readonly<Record<string, string>> {
  const place = (op: Op) => {
    const at = order.indexOf(op);
    const [before, after] = [order[at - 1], order[at + 1]];
    const parts = [
      before === undefined ? 'before all others' : `after ${stepWords[before]}`,
      after === undefined ? '' : `before ${stepWords[after]}`,
    ];
    return parts.filter(Boolean).join(', ');
  };
  const end = lost ? 'the object is lost' : 'the object is not lost';
  return {
    add: `${place('add')}; ${end}`,
    set: `${place('set')}; ${end}`,
    clear: `${place('clear')}; ${end}`,
  };
}

export function words(outcome: Outcome, care: Care, order: readonly Op[]): string {
  const before = (a: Op, b: Op) => order.indexOf(a) < order.indexOf(b);
  if (outcome.lost) {
    const why = !care.second
      ? 'The first look came before the object, the clear after its bit.'
      : before('again', 'clear')
        ? 'The second look read the list before the clear was seen, so it came too early.'
        : 'The bit was seen before the object, so the second look found an empty list.';
    return `Lost. ${why} The object is on the list and its bit is clear: no walk will ever ask for it.`;
  }
  if (outcome.foundFirst) return 'Found by the first look. The bit is not cleared, and stays.';
  if (outcome.foundAgain)
    return 'The bit was cleared, but the second look finds the object and sets the bit again. The next walk comes.';
  return 'The object sets its bit after the clear. The next walk comes.';
}
