// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The object as the x-ray found it: its fields by offset, and the role of each field in the operation. A place is a
 * number of bytes from the start of the object's first line. The object itself may begin later in that line.
 */

import { t } from '@page/base/lang/t.ts';
import type { LaneIndex, LaneSample } from '@page/derive/types.ts';

// Functions about rows of the microscope's counts, such as whether a row is about the watched object's lines.

export const lineBytes = 64;

/** Number of bytes in the object's first line that precede the object. An object may begin anywhere in a line. */
export function leadOf(address: number): number {
  return address % lineBytes;
}

/** The newest counts; null if there are none. */
export function countsOf(lane: LaneIndex): LaneSample | null {
  return lane.samples('microscope').at(-1) ?? null;
}

type Counts = Pick<LaneSample, 'columns' | 'facts'>;

/**
 * Tell whether a row counts accesses to one of the watched object's lines. All other rows are about busy lines outside
 * the object.
 */
export function isOwn({ columns, facts }: Counts, i: number): boolean {
  const [base, size] = [facts['address'] ?? 0, facts['size'] ?? 0];
  const line = Number(columns['address']?.[i] ?? 0);
  return line >= base - leadOf(base) && line < base + size;
}

/** Tell whether the accesses of a row were made inside an operation. */
export function isInside({ columns }: Counts, i: number): boolean {
  return Number(columns['inside']?.[i] ?? 0) === 1;
}

/**
 * Place of a row's first byte: its distance from the beginning of the object's first line. Use only for rows about the
 * object's lines.
 */
export function placeOf({ columns, facts }: Counts, i: number): number {
  return Number(columns['at']?.[i] ?? 0) + leadOf(facts['address'] ?? 0);
}

/** The most written place on the object's lines, over all functions; -1 if no place is written. */
function mostWritten(counts: LaneSample, within: (at: number) => number): number {
  const sums = new Map<number, number>();
  for (let i = 0; i < counts.n; i++) {
    if (!isOwn(counts, i)) continue;
    const key = within(placeOf(counts, i));
    const { writes, rmws } = counts.columns;
    const written = Number(writes?.[i] ?? 0) + Number(rmws?.[i] ?? 0);
    if (key >= 0 && written > 0) sums.set(key, (sums.get(key) ?? 0) + written);
  }
  let [best, most] = [-1, 0];
  for (const [key, sum] of sums) if (sum > most) [best, most] = [key, sum];
  return best;
}

/**
 * Knowledge about struct dentry from fs/dcache.c of 6.1 and 7.3: the fields that a lookup reads, the reference count, and
 * how a name is compared. For other objects, only the counts show which fields are written.
 */

/** Role of a field in the operation. The names are those of the lesson's kinds. */
export type Role = 'name' | 'count' | 'chain' | 'plain';

/** Knowledge about a type of object that does not come from counts. */
export interface Known {
  readonly roles: Readonly<Record<string, Role>>;
  /** Names, on the page, of the field that all CPUs write and of its line. */
  readonly hot: string;
  readonly hotLine: string;
}

const dentry: Known = {
  roles: {
    d_iname: 'name',
    // 7.3 has d_shortname in place of d_iname, and d_name in a union whose first member is __d_name.
    d_shortname: 'name',
    __d_name: 'chain',
    d_lockref: 'count',
    d_seq: 'chain',
    d_hash: 'chain',
    d_parent: 'chain',
    d_name: 'chain',
  },
  hot: t('count'),
  hotLine: t("count's line"),
};

/** Return the knowledge about an object with these fields; null if the type of object is unknown. */
function knownOf(fields: ReadonlySet<string>): Known | null {
  const named = fields.has('d_iname') || fields.has('d_shortname');
  return named && fields.has('d_lockref') ? dentry : null;
}

/** dentry_string_cmp() compares words of this many bytes. */
const wordBytes = 8;

/** The name of the live object, if it is stored inside the object. */
interface InnerName {
  readonly length: number;
  /**
   * Bytes [from, to) that a comparison of this name reads. The range is empty if the name is stored outside the object.
   */
  readonly compared: readonly [from: number, to: number];
  /** Letters of the name by byte; '' for bytes outside the name. */
  readonly letters: readonly string[];
}

interface Place {
  readonly at: number;
  readonly size: number;
}

/**
 * @param field the place of the object's inner name
 * @param bytes the bytes of all lines
 * @param lead number of bytes in the first line that precede the object
 */
function innerName(
  { facts, columns }: Pick<LaneSample, 'facts' | 'columns'>,
  field: Place,
  bytes: number,
  lead: number,
): InnerName {
  const length = facts['name_length'] ?? 0;
  const { at: from, size } = field;
  if (facts['inline_name'] !== 1)
    return { length, compared: [from, from], letters: Array(bytes).fill('') };
  const words = Math.ceil(length / wordBytes) * wordBytes;
  const letters = Array.from({ length: bytes }, (_, at) => {
    const code = at >= from && at < from + length ? Number(columns['bytes']?.[at - lead] ?? 0) : 0;
    return code > 32 && code < 127 ? String.fromCharCode(code) : '';
  });
  return { length, compared: [from, from + Math.min(words, size)], letters };
}

export interface Field {
  readonly name: string;
  /** Place of the field's first byte. */
  readonly at: number;
  readonly size: number;
  readonly role: Role;
}

export interface Struct {
  readonly size: number;
  /** Number of bytes in the first line that precede the object. */
  readonly lead: number;
  readonly lines: number;
  readonly fields: readonly Field[];
  /**
   * For each place, the field's index in `fields`; -1 for padding, for unknown bytes, and for bytes outside the object.
   */
  readonly fieldAt: Int16Array;
  /** The name that the operation compares; null if the object has none. */
  readonly name: InnerName | null;
  /** The field that all CPUs write; null if no field is written, or the field is not known. */
  readonly hot: Hot | null;
}

export interface Hot {
  readonly at: number;
  readonly line: number;
  /** `words` and `lineWords` can follow "the": "count" and "count's line", or "nr_files" and "line of nr_files". */
  readonly words: string;
  readonly lineWords: string;
}

interface Made {
  readonly written: number;
  readonly struct: Struct;
}

/** The keys are columns, because on other axes each call makes new sample objects with the same columns. */
const made = new WeakMap<LaneSample['columns'], Made>();

/** The watched object of a lane; null until the x-ray has found it. */
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

/** The newest sample with the fields of a live object. With several objects, the sample of the watched object. */
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

/** Index of the most written field; -1 if not known. Also -1 for struct dentry, whose roles already name that field. */
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

/** @param written index of the most written field; -1 if it is not known */
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
  const named = fields.find((field) => field.role === 'name');
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

/** Top-level fields in order of offset, without the fields inside them. A union is represented by its first member. */
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

/**
 * Format the field of an access: "d_lockref". If the access covers only a part of the name, add the bytes:
 * "d_iname[8..15]".
 */
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

/** Tell whether an access is a read of the name. */
export function isNameRead(struct: Struct | null, at: number, write: boolean): boolean {
  return !write && struct?.fields[struct.fieldAt[at] ?? -1]?.role === 'name';
}

// Kinds of an object's bytes, and the runs of bytes that are drawn as boxes.

/**
 * Kind of a byte, which is the role of its field. Only the part of the name in the count's line has another kind,
 * name_shared.
 */
export type ByteKind = 'name' | 'name_shared' | 'count' | 'chain' | 'plain';

export function byteKind(struct: Struct, at: number): ByteKind {
  const field = struct.fields[struct.fieldAt[at] ?? -1];
  if (field === undefined) return 'plain';
  if (field.role !== 'name') return field.role;
  const [from, to] = struct.name?.compared ?? [0, 0];
  if (at < from || at >= to) return 'plain';
  return Math.floor(at / lineBytes) === struct.hot?.line ? 'name_shared' : 'name';
}

/** Consecutive bytes of one kind and one field in one line. A run is drawn as one box. */
export interface Run {
  readonly at: number;
  readonly size: number;
  readonly kind: ByteKind;
  readonly field: number;
}

const runsCache = new WeakMap<Struct, readonly (readonly Run[])[]>();

/** The runs of each line, in order of place. */
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
