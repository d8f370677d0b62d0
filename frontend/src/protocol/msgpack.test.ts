// SPDX-License-Identifier: GPL-2.0-or-later
import * as whole from '@msgpack/msgpack';
import { describe, expect, test } from 'vitest';
import * as ours from './msgpack.ts';

const numbers = [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
const texts = [0, 1, 31, 32, 255, 256, 65_535, 65_536].map((length) => 'ä'.repeat(length));
const lists = [0, 15, 16, 65_535, 65_536].map((length) => Array.from({ length }, (_, i) => i % 7));
const map = (length: number) =>
  Object.fromEntries(lists[3]!.slice(0, length).map((v, i) => [`k${i}`, v]));

describe('messages', () => {
  test.each([
    ['numbers', [...numbers, ...numbers.slice(1).map((n) => -n), 0.5, -1e300, Math.fround(0.1)]],
    ['texts', texts],
    ['lists', lists],
    ['maps', [0, 15, 16, 300].map(map)],
    ['others', [null, true, false, { a: [{ b: null }] }]],
  ])('are decoded and encoded like the package does: %s', (_, value) => {
    expect(ours.decode(whole.encode(value))).toEqual(value);
    expect(ours.decode(whole.encode(value, { forceFloat32: true }))).toEqual(
      whole.decode(whole.encode(value, { forceFloat32: true })),
    );
    expect(whole.decode(ours.encode(value))).toEqual(value);
  });

  test('may have bytes', () => {
    for (const length of [0, 255, 256, 65_536]) {
      const bytes = new Uint8Array(length).fill(7);
      expect(ours.decode(whole.encode({ bytes }))).toEqual({ bytes });
    }
  });

  test('that are cut off, too long or unknown are refused', () => {
    const bytes = whole.encode({ a: 'word' });
    expect(() => ours.decode(bytes.subarray(0, 4))).toThrow('cut off');
    expect(() => ours.decode(Uint8Array.of(...bytes, 0))).toThrow('follow');
    expect(() => ours.decode(Uint8Array.of(0xc1))).toThrow('unknown');
    expect(() => ours.decode(Uint8Array.of(0xc7, 0, 0))).toThrow('unknown');
  });
});
