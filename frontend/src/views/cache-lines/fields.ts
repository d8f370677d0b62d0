// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The object as the x-ray found it: fields by offset, and what each is to the operation. Places are bytes from the
 * begin of the object's first line, which the object need not begin.
 */

import { t } from '../../base/lang/t.ts';
import type { LaneIndex, LaneSample } from '../../derive/types.ts';
import { countsOf, leadOf, lineBytes, mostWritten } from './cells.ts';
import { type InnerName, innerName, knownOf, type Role } from './dentry.ts';

export { lineBytes } from './cells.ts';
export type { Role } from './dentry.ts';

export interface Field {
  readonly name: string;
  /** Place of its first byte. */
  readonly at: number;
  readonly size: number;
  readonly role: Role;
}

export interface Struct {
  readonly size: number;
  /** Bytes of the first line before the object. */
  readonly lead: number;
  readonly lines: number;
  readonly fields: readonly Field[];
  /** Number in `fields` of each place; -1: padding, not known, or beside the object. */
  readonly fieldAt: Int16Array;
  /** null: the object has no name that is compared. */
  readonly name: InnerName | null;
  /** What everybody writes; null: not known, or nothing is written. */
  readonly hot: Hot | null;
}

export interface Hot {
  readonly at: number;
  readonly line: number;
  /** "count" or "nr_files", and "count's line" or "line of nr_files": after "the". */
  readonly words: string;
  readonly lineWords: string;
}

interface Made {
  readonly written: number;
  readonly struct: Struct;
}

/** Samples of another axis are made anew whenever they are asked for; their columns stay. */
const made = new WeakMap<LaneSample['columns'], Made>();

/** The watched object of a lane; null while the x-ray has not found it. */
export function structOf(lane: LaneIndex): Struct | null {
  const sample = objectOf(lane);
  if (sample === null) return null;
  const known = made.get(sample.columns);
  const written = hotField(lane, sample);
  if (known?.written === written) return known.struct;
  const struct = makeStruct(sample, written);
  made.set(sample.columns, { written, struct });
  return struct;
}

/** The newest sample that lists the fields of a live object; of several objects the one that is watched. */
function objectOf(lane: LaneIndex): LaneSample | null {
  const address = countsOf(lane)?.facts['address'] ?? 0;
  const found = lane.probes().flatMap((probe) => {
    const one = lane.samples(probe).findLast(({ facts, columns }) => {
      return facts['found'] === 1 && 'offset' in columns && 'size' in columns;
    });
    return one === undefined ? [] : [one];
  });
  return found.find(({ facts }) => facts['address48'] === address) ?? found[0] ?? null;
}

const hots = new WeakMap<LaneSample['columns'], number>();

/** Number of the field that is written most; -1: not known. Of an object that is known, its roles tell. */
function hotField(lane: LaneIndex, sample: LaneSample): number {
  const counts = countsOf(lane);
  if (counts === null || knownOf(new Set(sample.texts)) !== null) return -1;
  let hot = hots.get(counts.columns);
  if (hot === undefined) {
    const { fieldAt } = makeStruct(sample);
    hot = mostWritten(counts, (at) => fieldAt[at] ?? -1);
    hots.set(counts.columns, hot);
  }
  return hot;
}

/** @param written number of the field that is written most; -1: not known */
export function makeStruct(
  sample: Pick<LaneSample, 'columns' | 'facts' | 'texts' | 'n'>,
  written = -1,
): Struct {
  const size = sample.facts['size'] ?? endOf(sample);
  const lead = leadOf(sample.facts['address48'] ?? 0);
  const known = knownOf(new Set(sample.texts));
  const fields = fieldsOf(sample, lead).map((field, i): Field => {
    const counted = i === written ? 'count' : 'plain';
    return { ...field, role: known === null ? counted : (known.roles[field.name] ?? 'plain') };
  });
  const lines = Math.max(1, Math.ceil((lead + size) / lineBytes));
  const bytes = lines * lineBytes;
  const fieldAt = new Int16Array(bytes).fill(-1);
  for (const [i, { at, size: long }] of fields.entries()) fieldAt.fill(i, at, at + long);
  const hot = fields.find((field) => field.role === 'count');
  const named = known && fields.find((field) => field.name === known.name);
  const lineWords = known?.hotLine ?? t('line of {name}', { name: hot?.name });
  return {
    size,
    lead,
    lines,
    fields,
    fieldAt,
    name: named ? innerName(sample, named, bytes, lead) : null,
    hot: hot
      ? {
          at: hot.at,
          line: Math.floor(hot.at / lineBytes),
          words: known?.hot ?? hot.name,
          lineWords,
        }
      : null,
  };
}

function endOf({ columns, n }: Pick<LaneSample, 'columns' | 'n'>): number {
  const { offset, size } = columns;
  return Math.max(0, ...Array.from({ length: n }, (_, i) => Number(offset![i]) + Number(size![i])));
}

/** Whole fields in order, without their parts; of a union its first member. */
function fieldsOf(
  { columns, texts, n }: Pick<LaneSample, 'columns' | 'texts' | 'n'>,
  lead: number,
): Omit<Field, 'role'>[] {
  const { offset, size, nested } = columns;
  const fields: Omit<Field, 'role'>[] = [];
  let end = lead;
  for (let i = 0; i < n; i++) {
    const at = Number(offset![i]) + lead;
    if (nested?.[i] === 1 || at < end || Number(size![i]) === 0) continue;
    fields.push({ name: texts[i] ?? '', at, size: Number(size![i]) });
    end = at + Number(size![i]);
  }
  return fields;
}

/** "d_iname[8..15]" or "d_lockref": the field of an access, with the bytes of it where it is a part. */
export function fieldWords(struct: Struct | null, at: number, size: number): string {
  const field = struct?.fields[struct.fieldAt[at] ?? -1];
  if (struct === null) return t('byte {at}', { at });
  if (field === undefined) {
    const inside = at >= struct.lead && at < struct.lead + struct.size;
    return inside ? t('byte {at}', { at: at - struct.lead }) : t('other data on the line');
  }
  if (field.at === at && field.size <= size) return field.name;
  if (field.role !== 'name') return field.name;
  const first = at - field.at;
  return `${field.name}[${first}..${first + size - 1}]`;
}

/** Does this access compare the name? */
export function isNameRead(struct: Struct | null, at: number, write: boolean): boolean {
  return !write && struct?.fields[struct.fieldAt[at] ?? -1]?.role === 'name';
}
