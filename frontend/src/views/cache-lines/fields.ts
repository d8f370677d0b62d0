// SPDX-License-Identifier: GPL-2.0-or-later
/** The struct as the x-ray found it: fields by offset, who touches them, the letters of the live name. */

import type { LaneIndex, LaneSample } from '../../derive/types.ts';

export const lineBytes = 64;

/** Who touches a field of a dentry; the same names as the lesson's kinds. */
export type Role = 'name' | 'count' | 'chain' | 'plain';

export interface Field {
  readonly name: string;
  readonly at: number;
  readonly size: number;
  readonly role: Role;
}

export interface Struct {
  readonly size: number;
  readonly lines: number;
  readonly fields: readonly Field[];
  /** Place in `fields` of each byte; -1: padding, or not known. */
  readonly fieldAt: Int16Array;
  /** Letters of the name that lie in the struct, by byte; '' elsewhere. */
  readonly letters: readonly string[];
  /** Bytes [from, to) that a comparison of this name reads; an empty range: the name lies elsewhere. */
  readonly compared: readonly [from: number, to: number];
  readonly nameLength: number;
  /** Line of the reference count; -1: not known. */
  readonly lockLine: number;
  /** First byte of the reference count; -1: not known. */
  readonly countAt: number;
}

const roles: Readonly<Record<string, Role>> = {
  d_iname: 'name',
  d_lockref: 'count',
  d_seq: 'chain',
  d_hash: 'chain',
  d_parent: 'chain',
  d_name: 'chain',
};

/** dentry_string_cmp() compares words of so many bytes. */
const wordBytes = 8;

const made = new WeakMap<LaneSample, Struct>();

/** The struct of a lane; null while the x-ray has not seen the live dentry. */
export function structOf(lane: LaneIndex): Struct | null {
  const sample = lane.samples('dentry').findLast((one) => one.facts['found'] === 1);
  if (sample === undefined) return null;
  const known = made.get(sample);
  if (known !== undefined) return known;
  const struct = makeStruct(sample);
  made.set(sample, struct);
  return struct;
}

export function makeStruct(sample: Pick<LaneSample, 'columns' | 'facts' | 'texts' | 'n'>): Struct {
  const fields = fieldsOf(sample);
  const size = sample.facts['size'] ?? 0;
  const fieldAt = new Int16Array(size).fill(-1);
  for (const [i, { at, size: bytes }] of fields.entries()) fieldAt.fill(i, at, at + bytes);
  const nameLength = sample.facts['name_length'] ?? 0;
  const iname = fields.find((field) => field.name === 'd_iname');
  const inside = sample.facts['inline_name'] === 1 && iname !== undefined;
  const words = Math.ceil(nameLength / wordBytes) * wordBytes;
  const from = iname?.at ?? 0;
  const count = fields.find((field) => field.role === 'count');
  return {
    size,
    lines: Math.ceil(size / lineBytes),
    fields,
    fieldAt,
    letters: inside ? lettersOf(sample, from, nameLength, size) : Array(size).fill(''),
    compared: inside ? [from, from + Math.min(words, iname.size)] : [from, from],
    nameLength,
    lockLine: count === undefined ? -1 : Math.floor(count.at / lineBytes),
    countAt: count?.at ?? -1,
  };
}

/** Whole fields in order, without their parts; of a union its first member. */
function fieldsOf({ columns, texts, n }: Pick<LaneSample, 'columns' | 'texts' | 'n'>): Field[] {
  const { offset, size, nested } = columns;
  const fields: Field[] = [];
  let end = 0;
  for (let i = 0; i < n; i++) {
    const at = Number(offset![i]);
    if (nested?.[i] === 1 || at < end || Number(size![i]) === 0) continue;
    const name = texts[i] ?? '';
    fields.push({ name, at, size: Number(size![i]), role: roles[name] ?? 'plain' });
    end = at + Number(size![i]);
  }
  return fields;
}

function lettersOf(
  { columns }: Pick<LaneSample, 'columns'>,
  from: number,
  length: number,
  size: number,
): string[] {
  const { bytes } = columns;
  return Array.from({ length: size }, (_, at) => {
    const code = at >= from && at < from + length ? Number(bytes?.[at] ?? 0) : 0;
    return code > 32 && code < 127 ? String.fromCharCode(code) : '';
  });
}

/** How a byte is marked: by its field, and the name apart where it lies with the count. */
export type ByteKind = 'name' | 'name_shared' | 'count' | 'chain' | 'plain';

export function byteKind(struct: Struct, at: number): ByteKind {
  const field = struct.fields[struct.fieldAt[at] ?? -1];
  if (field === undefined) return 'plain';
  if (field.role !== 'name') return field.role;
  const [from, to] = struct.compared;
  if (at < from || at >= to) return 'plain';
  return Math.floor(at / lineBytes) === struct.lockLine ? 'name_shared' : 'name';
}

/** "d_iname[8..15]" or "d_lockref": the field of an access, with the bytes of it where it is a part. */
export function fieldWords(struct: Struct | null, at: number, size: number): string {
  const field = struct?.fields[struct.fieldAt[at] ?? -1];
  if (field === undefined) return `byte ${at}`;
  if (field.at === at && field.size <= size) return field.name;
  if (field.role !== 'name') return field.name;
  const first = at - field.at;
  return `${field.name}[${first}..${first + size - 1}]`;
}

/** Does this access compare the name? */
export function isNameRead(struct: Struct | null, at: number, write: boolean): boolean {
  return !write && struct?.fields[struct.fieldAt[at] ?? -1]?.role === 'name';
}

/** A run of bytes of one kind and one field within a line: what is drawn as one box. */
export interface Run {
  readonly at: number;
  readonly size: number;
  readonly kind: ByteKind;
  readonly field: number;
}

const runsKept = new WeakMap<Struct, readonly (readonly Run[])[]>();

/** The runs of each line, in order. */
export function runsOf(struct: Struct): readonly (readonly Run[])[] {
  let known = runsKept.get(struct);
  if (known === undefined) {
    known = Array.from({ length: struct.lines }, (_, line) => runsIn(struct, line));
    runsKept.set(struct, known);
  }
  return known;
}

function runsIn(struct: Struct, line: number): Run[] {
  const runs: Run[] = [];
  const end = Math.min(struct.size, (line + 1) * lineBytes);
  for (let at = line * lineBytes; at < end; ) {
    const [field, kind] = [struct.fieldAt[at]!, byteKind(struct, at)];
    let to = at + 1;
    while (to < end && struct.fieldAt[to] === field && byteKind(struct, to) === kind) to += 1;
    runs.push({ at, size: to - at, kind, field });
    at = to;
  }
  return runs;
}
