// SPDX-License-Identifier: GPL-2.0-or-later
/** Whether a window shows what is sought on a lane, and how much of it. */

import { firstAtLeast } from '../../base/columns.ts';
import { millisecond } from '../../base/units.ts';
import type { Sought } from '../../protocol/contract.gen.ts';
import type { Found } from './found.ts';

/** So much of the window must be filled by what is longer than that and not seen whole. */
const share = 1 / 20;

/** When the first begins of those that are in [a, b) and long enough there; null: none is. */
export function firstIn(found: Found, one: Sought, a: number, b: number): number | null {
  const { t0, t1 } = found;
  for (let i = 0; i < t0.length && t0[i]! < b; i++) {
    const [from, until] = [Math.max(t0[i]!, a), Math.min(t1[i]!, b)];
    if (until > from && until - from >= one.longer_ms * millisecond) return from;
  }
  return null;
}

/** How much of it is in [a, b): time, or the number of what has no length; -1: too little, or too much. */
export function amountIn(found: Found, one: Sought, a: number, b: number): number {
  const { t0, t1, longest } = found;
  const at = (i: number) => t0[i]!;
  const longer = one.longer_ms * millisecond;
  const to = firstAtLeast(t0.length, at, b);
  let [seen, touching, time] = [0, 0, 0];
  for (let i = firstAtLeast(t0.length, at, a - longest); i < to; i++) {
    const [from, until] = [t0[i]!, t1[i]!];
    if (until <= a && from < a) continue;
    const length = until - from;
    if (length >= longer) touching += 1;
    const part = Math.min(until, b) - Math.max(from, a);
    if (part < longer || part < Math.min(length, (b - a) * share)) continue;
    if (one.whole && (from < a || until > b)) continue;
    seen += 1;
    time += part;
  }
  const least = one.at_least ?? (one.at_most === null ? 1 : 0);
  if (seen < least || (one.at_most !== null && touching > one.at_most)) return -1;
  return time > 0 ? time : seen;
}
