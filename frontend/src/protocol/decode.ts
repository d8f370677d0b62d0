// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Decodes bytes from the socket into checked messages with typed arrays. Pure, so it can run in the worker and in
 * tests.
 */

import { decode } from '@msgpack/msgpack';
import { check } from './check.ts';
import { readServerMessage } from './contract.checks.gen.ts';
import type { Dtype, ServerMessage, TypedColumn } from './messages.ts';

// Segments and sites encode a column as differences between neighbouring values, because differences compress well.
// The first difference is relative to 0. The encoder is in stream/packets.py.
// The lowest bytes of all differences come first, followed by the second-lowest bytes, and so on.

const width: Readonly<Record<Dtype, number>> = { f8: 8, i4: 4, u4: 4, i2: 2, u1: 1 };

/**
 * Replace the encoded differences in a decoded message by columns. Messages without differences are returned unchanged.
 */
export function whole(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('deltas' in message)) return message;
  const { deltas, ...batch } = message as {
    readonly deltas: readonly string[];
    readonly columns: Readonly<Record<string, Uint8Array>>;
    readonly dtypes: Readonly<Record<string, Dtype>>;
  };
  const columns = { ...batch.columns };
  for (const name of deltas) {
    const [column, dtype] = [columns[name], batch.dtypes[name]];
    if (column === undefined || dtype === undefined) throw new Error(`there is no column ${name}`);
    columns[name] = sumDifferences(column, dtype);
  }
  return { ...batch, columns };
}

/** Add up differences and return the bytes of the column, in little-endian order. */
export function sumDifferences(deltas: Uint8Array, dtype: Dtype): Uint8Array {
  const wide = width[dtype];
  const n = deltas.byteLength / wide;
  if (!Number.isInteger(n)) throw new Error(`a column of ${dtype} is cut off`);
  const bytes = new Uint8Array(deltas.byteLength);
  const view = new DataView(bytes.buffer);
  /** Four bytes of difference i as a little-endian integer, starting at byte `from`. */
  const four = (i: number, from: number) => {
    let word = 0;
    for (let k = from; k < Math.min(wide, from + 4); k++)
      word |= deltas[k * n + i]! << (8 * (k - from));
    return word;
  };
  let value = 0;
  for (let i = 0; i < n; i++) {
    if (dtype === 'f8') {
      value += four(i, 4) * 2 ** 32 + (four(i, 0) >>> 0);
      view.setFloat64(8 * i, value, true);
    } else {
      // Integers overflow at their width, as in the encoder.
      value = (value + four(i, 0)) >>> 0;
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
