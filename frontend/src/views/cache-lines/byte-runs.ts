// SPDX-License-Identifier: GPL-2.0-or-later
/** How the bytes of an object are marked, and the boxes that they are drawn as. */

import { lineBytes, type Struct } from './fields.ts';

/** How a byte is marked: by its field, and the name apart where it lies with the count. */
export type ByteKind = 'name' | 'name_shared' | 'count' | 'chain' | 'plain';

export function byteKind(struct: Struct, at: number): ByteKind {
  const field = struct.fields[struct.fieldAt[at] ?? -1];
  if (field === undefined) return 'plain';
  if (field.role !== 'name') return field.role;
  const [from, to] = struct.name?.compared ?? [0, 0];
  if (at < from || at >= to) return 'plain';
  return Math.floor(at / lineBytes) === struct.hot?.line ? 'name_shared' : 'name';
}

/** A run of bytes of one kind and one field within a line: what is drawn as one box. */
export interface Run {
  readonly at: number;
  readonly size: number;
  readonly kind: ByteKind;
  readonly field: number;
}

const runsCache = new WeakMap<Struct, readonly (readonly Run[])[]>();

/** The runs of each line, in order. */
export function runsOf(struct: Struct): readonly (readonly Run[])[] {
  let known = runsCache.get(struct);
  if (known === undefined) {
    known = Array.from({ length: struct.lines }, (_, line) => runsIn(struct, line));
    runsCache.set(struct, known);
  }
  return known;
}

function runsIn(struct: Struct, line: number): Run[] {
  const runs: Run[] = [];
  const end = (line + 1) * lineBytes;
  for (let at = line * lineBytes; at < end; ) {
    const [field, kind] = [struct.fieldAt[at]!, byteKind(struct, at)];
    let to = at + 1;
    while (to < end && struct.fieldAt[to] === field && byteKind(struct, to) === kind) to += 1;
    runs.push({ at, size: to - at, kind, field });
    at = to;
  }
  return runs;
}
