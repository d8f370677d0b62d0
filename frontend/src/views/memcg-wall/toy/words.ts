// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy says: between which steps something stands, and what comes of it. */

import { t } from '../../../base/lang/t.ts';
import type { Care, Op, Outcome } from './rule.ts';

/** Between which steps each handle stands. */
export function sayings(order: readonly Op[], { lost }: Outcome): Readonly<Record<string, string>> {
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

export function words(outcome: Outcome, care: Care, order: readonly Op[]): string {
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
