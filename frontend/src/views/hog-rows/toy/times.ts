// SPDX-License-Identifier: GPL-2.0-or-later
/** Lengths out of a run: of a reader's walk, of an umount's time with the lock, of the wait for a tick. Medians. */

import { quantile } from '../../../base/columns.ts';
import { formatNs, millisecond } from '../../../base/units.ts';
import { spansIn } from '../../../derive/query.ts';
import type { Layer, RunIndex } from '../../../derive/types.ts';
import type { Times } from '../../../toys/types.ts';

/** The line, in ticks. */
export const ticksShown = 14;
/** The umount stands in this tick at first. */
const umountTick = 2;

/** Where no run has them, ns. */
const chosen = { tick: 4 * millisecond, reader: 6 * millisecond, hold: 20_000, quick: 40_000 };

export function raceTimes(index: RunIndex | null): Times {
  const tick = index?.tickNs ?? chosen.tick;
  const lengths = (arm: string, layer: Layer, kind: string): readonly number[] => {
    const lane = index?.lanes.find((one) => one.arm === arm);
    if (!index || !lane) return [];
    return [...spansIn(lane, layer, 0, Number.POSITIVE_INFINITY)]
      .filter((span) => !span.open && index.kinds[span.kind]?.name === kind)
      .map((span) => span.t1 - span.t0);
  };
  const readers = lengths('srcu', 'function', 'reader');
  // Most umounts meet nobody; those that do wait within the same function.
  const holds = lengths('rwsem', 'function', 'unregister');
  const armed = lengths('srcu', 'track', 'gp_armed');
  const urgent = lengths('srcu-expedited', 'track', 'gp_armed');
  const median = (all: readonly number[], usual: number) =>
    all.length > 0 ? quantile(all, 0.5) : usual;
  const reader = median(readers, chosen.reader);
  const hold = Math.min(tick / 8, median(holds, chosen.hold));
  // Who finds SRCU idle is answered at once and waits for no tick.
  const waited = armed.filter((length) => length > tick / 10 && length < tick * 0.95);
  const found = readers.length > 0 && holds.length > 0;
  const ask = median(waited, tick / 2);
  const quick = Math.min(tick / 8, median(urgent, chosen.quick));
  return {
    at: { tick, reader, hold, quick, umount: umountTick * tick - ask },
    span: ticksShown * tick,
    from: found
      ? `${formatNs(hold)} with the lock${waited.length > 0 ? `, ${formatNs(ask)} from a question to its tick` : ''}, medians; ticks of ${formatNs(tick)}. Its readers are inside for ${formatNs(reader)}, yours is longer at first, to be seen`
      : null,
  };
}
