// SPDX-License-Identifier: GPL-2.0-or-later
/** What an order of fields costs: lines that travel in each operation, by the lesson's model on the counted accesses. Pure. */

import { lineBytes } from '../cells.ts';
import { interleave } from '../model/interleave.ts';
import { simulate } from '../model/simulate.ts';
import { askedFor, spreadOver } from '../model/streams.ts';
import type { FieldStream, Stats } from './counted-stat.ts';
import { type Laid, lay, type ToyField } from './lay.ts';

export interface Layout {
  readonly fields: readonly ToyField[];
  readonly laid: Laid;
  /** The name does not fit and lies elsewhere, with no other thing that is written. */
  readonly outside: boolean;
}

/** @param name bytes of the field of the name; one of them ends the name */
export function layoutOf(stats: Stats, order: readonly string[], name: number): Layout {
  const fields = order.flatMap((id) => {
    const field = stats.fields.find((one) => one.name === id);
    return field ? [field.role === 'name' ? { ...field, size: name } : field] : [];
  });
  return { fields, laid: lay(fields), outside: stats.letters >= name };
}

/** Line of each access under a layout. Of an access over a line's end, the first: fields of the object have none. */
function linesUnder({ fields }: Stats, { laid, outside }: Layout, { field, offset }: FieldStream) {
  const places = fields.map(({ name, role }) =>
    role === 'name' && outside ? (laid.lines + 1) * lineBytes : (laid.at.get(name) ?? 0),
  );
  // What lies in no field is on a line of its own.
  return Uint8Array.from(field, (f, i) =>
    f < 0 ? laid.lines : Math.floor((places[f]! + offset[i]!) / lineBytes),
  );
}

/** Operations of all CPUs together: as many as the picture's own model has on two. */
const atMost = 2000;

/** Transfers of each operation, its cold begin included, as the picture counts them. */
export function transfersOf(stats: Stats, layout: Layout, cpus: number): number {
  const { settings } = stats;
  const streams = stats.streams.map((one) => ({
    ...one.stream,
    line: linesUnder(stats, layout, one),
  }));
  const ops = Math.min(stats.ops, Math.ceil(atMost / cpus));
  const spread = spreadOver(askedFor(streams, settings.owning), cpus, ops);
  const { transfers, ops: done } = simulate(
    interleave(spread, settings, settings.seed),
    settings.protocol,
  ).totals;
  return transfers / done;
}
