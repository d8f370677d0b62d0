// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { summed, whole } from './deltas.ts';

/** As stream/packing.py writes them; its test holds the same texts. */
const written = {
  f8: [
    'e8d243030304f7000000ff000000ff800000ff000000ff000000ff000000ff00',
    [1000, 2234, -3, 2 ** 31],
  ],
  i4: ['05f6ff00ffff00ffff00ffff', [5, -5, -6]],
  u4: ['ff02ff00ff00ff00', [2 ** 32 - 1, 1]],
  i2: ['ff0101ff0180', [-1, 256, -32511]],
  u1: ['07fcfe', [7, 3, 1]],
} as const;

const made = {
  f8: Float64Array,
  i4: Int32Array,
  u4: Uint32Array,
  i2: Int16Array,
  u1: Uint8Array,
};

const of = (dtype: keyof typeof written) => Uint8Array.from(Buffer.from(written[dtype][0], 'hex'));

test.each(['f8', 'i4', 'u4', 'i2', 'u1'] as const)('differences of %s become values', (dtype) => {
  const back = new made[dtype](summed(of(dtype), dtype).buffer as ArrayBuffer);
  expect([...back]).toEqual([...written[dtype][1]]);
});

test('a batch comes out as a server sends it, its other columns as they are', () => {
  const plain = new Uint8Array([1, 2, 3]);
  const batch = { type: 'batch', n: 3, dtypes: { a: 'u1', b: 'u1' } };
  const columns = { a: new Uint8Array([7, 3, 1]), b: plain };
  const coded = { ...batch, columns: { a: of('u1'), b: plain }, deltas: ['a'] };
  expect(whole(coded)).toEqual({ ...batch, columns });
  expect(() => whole({ ...coded, deltas: ['c'] })).toThrow('no column c');
});

test('what has no such columns is not touched', () => {
  const message = { type: 'begun', run_id: 'r' };
  expect(whole(message)).toBe(message);
  expect(whole(null)).toBeNull();
});

test('a column that is cut off is no column', () => {
  expect(() => summed(new Uint8Array(7), 'f8')).toThrow('cut off');
  expect(summed(new Uint8Array(0), 'f8')).toHaveLength(0);
});
