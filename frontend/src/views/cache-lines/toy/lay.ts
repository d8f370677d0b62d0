// SPDX-License-Identifier: GPL-2.0-or-later
/** Fields in an order, as a compiler lays them: each at a multiple of its alignment, holes where that needs some. Pure. */

import { lineBytes } from '../cells.ts';
import type { Role } from '../dentry.ts';

export interface ToyField {
  readonly name: string;
  readonly size: number;
  readonly role: Role;
}

export interface Laid {
  /** Field -> place of its first byte. */
  readonly at: ReadonlyMap<string, number>;
  /** Fields and holes, in order. */
  readonly runs: readonly {
    readonly field: string | null;
    readonly at: number;
    readonly size: number;
  }[];
  readonly bytes: number;
  readonly lines: number;
}

/** Alignment of the largest, which that of the whole is, too. */
const most = 8;

/** Of a field as struct dentry has them: numbers of four bytes, pointers and pairs of them, and an array of bytes. */
function alignOf({ size, role }: ToyField): number {
  return role === 'name' ? 1 : Math.min(most, size);
}

export function lay(fields: readonly ToyField[]): Laid {
  const at = new Map<string, number>();
  const runs: { field: string | null; at: number; size: number }[] = [];
  let end = 0;
  const upTo = (place: number) => {
    if (place > end) runs.push({ field: null, at: end, size: place - end });
    end = place;
  };
  for (const field of fields) {
    const align = alignOf(field);
    upTo(Math.ceil(end / align) * align);
    at.set(field.name, end);
    runs.push({ field: field.name, at: end, size: field.size });
    end += field.size;
  }
  upTo(Math.ceil(end / most) * most);
  return { at, runs, bytes: end, lines: Math.ceil(end / lineBytes) };
}
