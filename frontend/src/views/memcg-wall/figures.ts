// SPDX-License-Identifier: GPL-2.0-or-later
/** The wall's counts as figures: of the call that goes on or was the last, or of the maps as they stand now. */

import { t as tr } from '../../base/lang/t.ts';
import { formatCount, formatNs } from '../../base/units.ts';
import { figure, type Scope } from '../../derive/figures.ts';
import { Count } from './cells.ts';
import { countWords, type Noun, noWords } from './marks.ts';

type Name = keyof typeof Count;

const others: Partial<Record<Name, Scope>> = {
  bits: 'now',
  objects: 'now',
  shrinkers: 'now',
  sets: 'far',
};

/** What a lane has counted at a moment. */
export interface CountsNow {
  readonly lane: { readonly arm: string };
  readonly n: Float64Array;
}

function write({ lane, n }: CountsNow, name: string, value: number, text: string): string {
  const other = others[name as Name];
  if (other !== undefined) return figure(other, lane.arm, name, value, text);
  const call = n[Count.call]!;
  if (n[Count.ended]! > 0) return ofCall(lane.arm, call, name, value, text);
  return figure('operation', lane.arm, name, value, text);
}

/** A figure of a whole call that is over. */
export function ofCall(
  arm: string,
  call: number,
  name: string,
  value: number,
  text = formatCount(value),
): string {
  return figure('mark', arm, `${name} of call ${call}`, value, text);
}

/** "4,332", or with `one` "4,332 visits". */
export function counted(now: CountsNow, name: Name, one?: Noun): string {
  const value = now.n[Count[name]]!;
  return write(now, name, value, one === undefined ? formatCount(value) : countWords(value, one));
}

/** "none", "no object" for 0. */
export function fewCounted(now: CountsNow, name: Name, one?: Noun): string {
  if (now.n[Count[name]] !== 0) return counted(now, name, one);
  return write(
    now,
    name,
    0,
    one === undefined ? tr('{n, plural, =0 {none} other {#}}', { n: 0 }) : noWords(one),
  );
}

/** How long the call has gone on at t, or took. */
export function callTime(now: CountsNow, t: number): string {
  const over = now.n[Count.ended]!;
  const took = (over > 0 ? over : t) - now.n[Count.began]!;
  return write(now, 'time', took, formatNs(took));
}

/** "call 3" */
export function callName({ lane, n }: CountsNow): string {
  return figure('now', lane.arm, 'call', n[Count.call]!, tr('call {n}', { n: n[Count.call] }));
}
