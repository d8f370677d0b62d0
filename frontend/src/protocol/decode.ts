// SPDX-License-Identifier: GPL-2.0-or-later
/** Bytes from the socket become checked messages; columns become typed arrays. Pure: runs in the worker and in tests. */

import { decode } from '@msgpack/msgpack';
import { check } from './check.ts';
import { readServerMessage } from './contract.checks.gen.ts';
import { whole } from './deltas.ts';
import type { Dtype, ServerMessage, TypedColumn } from './messages.ts';

/** What came was not a message of this protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const width: Readonly<Record<Dtype, number>> = { f8: 8, i4: 4, u4: 4, i2: 2, u1: 1 };

/**
 * The bytes of one column as numbers. msgpack puts fields at any offset, and a typed array must start at a
 * multiple of its width, so the bytes are copied: the column then owns its memory and can move between threads.
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

/** One message, checked. Throws ProtocolError with a sentence that says what was wrong. */
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

/** `length` says how many values a column of so many bytes, each so wide, must have. */
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

/** The memory a message can hand over to another thread. */
export function transferables(message: ServerMessage): ArrayBuffer[] {
  if (message.type !== 'batch' && message.type !== 'sample') return [];
  return Object.values(message.columns).map((c) => c.buffer as ArrayBuffer);
}
