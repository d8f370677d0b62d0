// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Decodes bytes from the socket into checked messages with typed arrays. Pure, so it can run in the worker and in
 * tests.
 */

import { check } from './check.ts';
import { readServerMessage } from './contract.checks.gen.ts';
import type { Dtype, ServerMessage, TypedColumn } from './messages.ts';
import { decode } from './msgpack.ts';

// Segments and sites encode a column as differences between neighbouring values, because differences compress well.
// The first difference is relative to 0. The encoder is in stream/packets.py.
// The lowest bytes of all differences come first, followed by the second-lowest bytes, and so on.
// In `chained` batches of a site, the column t0_ns has gaps instead of differences. The encoder is in export/site.py.

const width: Readonly<Record<Dtype, number>> = { f8: 8, i4: 4, u4: 4, i2: 2, u1: 1 };

/**
 * Replace the encoded differences in a decoded message by columns. Messages without differences are returned unchanged.
 */
export function whole(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('deltas' in message)) return message;
  const { deltas, chained, ...batch } = message as {
    readonly deltas: readonly string[];
    readonly chained?: boolean;
    readonly columns: Readonly<Record<string, Uint8Array>>;
    readonly dtypes: Readonly<Record<string, Dtype>>;
  };
  const columns = { ...batch.columns };
  for (const name of deltas) {
    const [column, dtype] = [columns[name], batch.dtypes[name]];
    if (column === undefined || dtype === undefined) throw new Error(`there is no column ${name}`);
    if (!chained || name !== 't0_ns') columns[name] = sumDifferences(column, dtype);
  }
  const { t0_ns, t1_ns, row, kind } = columns;
  if (chained && t0_ns && t1_ns && row) columns['t0_ns'] = addGaps(t0_ns, t1_ns, row, kind);
  return { ...batch, columns };
}

/** Word i of shuffled bytes: up to four bytes from byte `from`, as an integer in little-endian order. */
function word(bytes: Uint8Array, wide: number, i: number, from: number): number {
  const n = bytes.byteLength / wide;
  let found = 0;
  for (let k = from; k < Math.min(wide, from + 4); k++)
    found |= bytes[k * n + i]! << (8 * (k - from));
  return found;
}

function long(bytes: Uint8Array, i: number): number {
  return word(bytes, 8, i, 4) * 2 ** 32 + (word(bytes, 8, i, 0) >>> 0);
}

/**
 * Return the starts of spans. A gap is the time since the end of the preceding span of the same row. A span whose gap
 * is negative contains the preceding span. The end of the containing span is not used for the next gap.
 *
 * @param kinds kinds of the spans; gaps of the same kind are stored together
 */
export function addGaps(
  gaps: Uint8Array,
  ends: Uint8Array,
  rows: Uint8Array,
  kinds: Uint8Array = new Uint8Array(rows.byteLength / 4),
): Uint8Array {
  const starts = new Uint8Array(gaps.byteLength);
  const start = new DataView(starts.buffer);
  const end = new DataView(ends.buffer, ends.byteOffset);
  const row = new DataView(rows.buffer, rows.byteOffset);
  const last = new Map<number, number>();
  /** For each kind, the place of its next gap. */
  const next = new Uint32Array(256);
  for (const kind of kinds) if (kind < 255) next[kind + 1]! += 1;
  for (let kind = 1; kind < 256; kind++) next[kind]! += next[kind - 1]!;
  for (let i = 0; i < kinds.length; i++) {
    const of = row.getInt32(4 * i, true);
    const gap = long(gaps, next[kinds[i]!]!++);
    start.setFloat64(8 * i, (last.get(of) ?? 0) + gap, true);
    if (gap >= 0) last.set(of, end.getFloat64(8 * i, true));
  }
  return starts;
}

/** Add up differences and return the bytes of the column, in little-endian order. */
export function sumDifferences(deltas: Uint8Array, dtype: Dtype): Uint8Array {
  const wide = width[dtype];
  const n = deltas.byteLength / wide;
  if (!Number.isInteger(n)) throw new Error(`a column of ${dtype} is cut off`);
  const bytes = new Uint8Array(deltas.byteLength);
  const view = new DataView(bytes.buffer);
  let value = 0;
  for (let i = 0; i < n; i++) {
    if (dtype === 'f8') {
      value += long(deltas, i);
      view.setFloat64(8 * i, value, true);
    } else {
      // Integers overflow at their width, as in the encoder.
      value = (value + word(deltas, wide, i, 0)) >>> 0;
      for (let k = 0; k < wide; k++) bytes[wide * i + k] = value >>> (8 * k);
    }
  }
  return bytes;
}

/** Thrown if bytes are not a valid message of this protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/**
 * Convert the bytes of a column to a typed array. The bytes are copied for alignment: a typed array must start at a
 * multiple of its width, which msgpack does not guarantee. The column owns its memory, so it can be transferred to
 * another thread.
 */
export function column(bytes: Uint8Array, dtype: Dtype, n: number): TypedColumn {
  if (bytes.byteLength !== n * width[dtype]) {
    throw new ProtocolError(
      `a column of ${n} ${dtype} must have ${n * width[dtype]} bytes, not ${bytes.byteLength}`,
    );
  }
  const own = bytes.slice().buffer;
  switch (dtype) {
    case 'f8':
      return new Float64Array(own);
    case 'i4':
      return new Int32Array(own);
    case 'u4':
      return new Uint32Array(own);
    case 'i2':
      return new Int16Array(own);
    case 'u1':
      return new Uint8Array(own);
  }
}

/** Decode and check one message. If the message is invalid, throw a ProtocolError that says why. */
export function decodeMessage(bytes: Uint8Array): ServerMessage {
  let tree: unknown;
  try {
    tree = whole(decode(bytes));
  } catch (cause) {
    throw new ProtocolError(`not msgpack (${bytes.byteLength} bytes): ${String(cause)}`);
  }
  const checked = check(readServerMessage, tree);
  if (!checked.ok) {
    const type = (tree as { type?: unknown } | null)?.type;
    throw new ProtocolError(
      `message ${JSON.stringify(type)}: ${checked.place} ${checked.complaint}`,
    );
  }
  const message = checked.value;
  if (message.type === 'batch') {
    const { columns, dtypes, ...rest } = message;
    return { ...rest, columns: typed(columns, dtypes, () => rest.n) };
  }
  if (message.type === 'sample') {
    const { columns, dtypes, ...rest } = message;
    return { ...rest, columns: typed(columns, dtypes, (bytes, w) => Math.floor(bytes / w)) };
  }
  return message;
}

/**
 * @param length a function that returns the required number of values of a column, given its size and width in bytes
 */
function typed(
  columns: Readonly<Record<string, Uint8Array>>,
  dtypes: Readonly<Record<string, Dtype>>,
  length: (bytes: number, width: number) => number,
): Record<string, TypedColumn> {
  const result: Record<string, TypedColumn> = {};
  for (const [name, raw] of Object.entries(columns)) {
    const dtype = dtypes[name];
    if (dtype === undefined) throw new ProtocolError(`column ${name} has no dtype`);
    result[name] = column(raw, dtype, length(raw.byteLength, width[dtype]));
  }
  return result;
}

/** The buffers of a message that can be transferred to another thread without a copy. */
export function transferables(message: ServerMessage): ArrayBuffer[] {
  if (message.type !== 'batch' && message.type !== 'sample') return [];
  return Object.values(message.columns).map((c) => c.buffer as ArrayBuffer);
}

// Segments and the parts of a site contain framed messages. The writer is in stream/packets.py.
// A frame is the length of its message as u32 in little-endian order, followed by the message.

/** Return the framed messages as views into `bytes`, without copying them. */
export function frames(bytes: ArrayBuffer): Uint8Array<ArrayBuffer>[] {
  const view = new DataView(bytes);
  const found: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const end = at + 4 + (at + 4 <= bytes.byteLength ? view.getUint32(at, true) : 0);
    if (at + 4 > bytes.byteLength || end > bytes.byteLength)
      throw new Error('a part of this page is cut off');
    found.push(new Uint8Array(bytes, at + 4, end - at - 4));
    at = end;
  }
  return found;
}
