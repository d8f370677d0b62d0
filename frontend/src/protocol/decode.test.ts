// SPDX-License-Identifier: GPL-2.0-or-later

import { encode } from '@msgpack/msgpack';
import { describe, expect, test } from 'vitest';
import {
  addGaps,
  column,
  decodeMessage,
  ProtocolError,
  sumDifferences,
  transferables,
  whole,
} from './decode.ts';
import { directDecoder } from './decoder.ts';

describe('decode', () => {
  const values = {
    f8: [0, -1.5, 1e15, 123_456_789.25],
    i4: [0, -1, 2_147_483_647, -2_147_483_648],
    u4: [0, 1, 4_294_967_295, 7],
    i2: [0, -1, 32_767, -32_768],
    u1: [0, 1, 254, 255],
  };
  const arrays = {
    f8: Float64Array,
    i4: Int32Array,
    u4: Uint32Array,
    i2: Int16Array,
    u1: Uint8Array,
  };

  test.each([0, 1, 2, 3, 4, 5, 6, 7])('columns are read alike at byte offset %i', (offset) => {
    for (const [dtype, numbers] of Object.entries(values)) {
      const kind = dtype as keyof typeof values;
      const typed = new arrays[kind](numbers);
      const raw = new Uint8Array(typed.buffer);
      const shifted = new Uint8Array(offset + raw.byteLength + 3);
      shifted.set(raw, offset);
      const got = column(shifted.subarray(offset, offset + raw.byteLength), kind, numbers.length);
      expect([...got]).toEqual(numbers);
      expect(got.byteOffset).toBe(0);
      expect(got.buffer.byteLength).toBe(raw.byteLength);
    }
  });

  function batch(pad: string, n = 3) {
    const t0 = Float64Array.from({ length: n }, (_, i) => i * 1e6 + 0.5);
    return encode({
      type: 'batch',
      run_id: `r${pad}`,
      arm: 'srcu',
      table: 'spans',
      seq: 0,
      n,
      watermark_ns: 5e6,
      columns: {
        t0_ns: new Uint8Array(t0.buffer),
        row: new Uint8Array(Int32Array.of(7, 8, 9).buffer),
      },
      dtypes: { t0_ns: 'f8', row: 'i4' },
      sent_ns: 1,
    });
  }

  test.each(['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg'])(
    'a batch decodes the same with %j in front of its columns',
    (pad) => {
      const message = decodeMessage(batch(pad));
      if (message.type !== 'batch') throw new Error('not a batch');
      expect([...message.columns['t0_ns']!]).toEqual([0.5, 1e6 + 0.5, 2e6 + 0.5]);
      expect([...message.columns['row']!]).toEqual([7, 8, 9]);
      expect(transferables(message).length).toBe(2);
    },
  );

  test('a column of the wrong length is named with its bytes', () => {
    expect(() => column(new Uint8Array(23), 'f8', 3)).toThrow('must have 24 bytes, not 23');
  });

  test.each([
    ['no type', {}],
    ['an unknown type', { type: 'surprise' }],
    ['a phase that is none', { type: 'lane', run_id: 'r', arm: 'a', phase: 'asleep' }],
    [
      'text for a number',
      { type: 'gap', run_id: 'r', arm: 'a', table: 't', from_seq: 'x', to_seq: 1, rows: 1 },
    ],
    ['no map', 7],
  ])('%s is refused with a sentence', (_what, tree) => {
    expect(() => decodeMessage(encode(tree))).toThrow(ProtocolError);
  });

  test('bytes that are no msgpack become a complaint, and the next message still comes', () => {
    const got: unknown[] = [];
    const decoder = directDecoder((decoded) => got.push(decoded.complaint ?? decoded.message.type));
    decoder.decode(Uint8Array.of(0xc1, 0xc1).buffer);
    decoder.decode(batch('').slice().buffer);
    expect(got).toEqual([expect.stringContaining('not msgpack (2 bytes)'), 'batch']);
  });
});

test('gaps become starts: a span begins at the end of the last one in its row, unless it contains that one', () => {
  // Row 0: 10 to 20, 20 to 30, then 5 to 40 around both, then 30 to 50. Row 1: 12 to 45.
  const bytes = (values: Float64Array | Int32Array) => new Uint8Array(values.buffer);
  const gaps = [10, 0, -25, 12, 0];
  const planes = Uint8Array.from({ length: 40 }, (_, k) => {
    const word = BigInt.asUintN(64, BigInt(gaps[k % 5]!));
    return Number((word >> BigInt(8 * Math.floor(k / 5))) & 255n);
  });
  const ends = bytes(Float64Array.of(20, 30, 40, 45, 50));
  const rows = bytes(Int32Array.of(0, 0, 0, 1, 0));
  const starts = (kinds?: Uint8Array) => [
    ...new Float64Array(addGaps(planes, ends, rows, kinds).buffer),
  ];
  expect(starts()).toEqual([10, 20, 5, 12, 30]);
  // The second gap belongs to the third span if spans 0, 2, 3 and 4 are of one kind, and 1 of a later one.
  expect(starts(Uint8Array.of(1, 2, 1, 1, 1))).toEqual([10, 20, 30, -25, 52]);
});

describe('deltas', () => {
  /** Differences as stream/packets.py writes them. The test of that module has the same values. */
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

  const of = (dtype: keyof typeof written) =>
    Uint8Array.from(Buffer.from(written[dtype][0], 'hex'));

  test.each(['f8', 'i4', 'u4', 'i2', 'u1'] as const)('differences of %s become values', (dtype) => {
    const back = new made[dtype](sumDifferences(of(dtype), dtype).buffer as ArrayBuffer);
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
    expect(() => sumDifferences(new Uint8Array(7), 'f8')).toThrow('cut off');
    expect(sumDifferences(new Uint8Array(0), 'f8')).toHaveLength(0);
  });
});
