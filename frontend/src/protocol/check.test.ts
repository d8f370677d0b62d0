// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import {
  bytes,
  check,
  integer,
  list,
  map,
  maybe,
  number,
  oneOf,
  or,
  partial,
  shape,
} from './check.ts';
import { readRows, readServerMessage } from './contract.checks.gen.ts';

const point = shape((o) => ({
  x: number(o['x'], 'x'),
  unit: or(o['unit'], 'unit', maybe(oneOf('ns', 'ms')), null),
}));

test('a copy without unknown keys and with defaults comes back', () => {
  const came = { x: 1.5, mood: 'good' };
  const checked = check(point, came);
  expect(checked).toEqual({ ok: true, value: { x: 1.5, unit: null } });
  expect(came).toEqual({ x: 1.5, mood: 'good' });
});

test.each([
  ['null', null, '', 'expected object, received null'],
  ['a list', [], '', 'expected object, received array'],
  ['a missing field', {}, 'x', 'expected number, received undefined'],
  ['no number', { x: Number.NaN }, 'x', 'expected number, received NaN'],
  ['a word that is none', { x: 1, unit: 'us' }, 'unit', 'expected one of "ns"|"ms"'],
])('%s is refused, and said where', (_what, came, place, words) => {
  expect(check(point, came)).toEqual({
    ok: false,
    place,
    complaint: expect.stringContaining(words),
  });
});

test('the place names every key down to what is wrong', () => {
  const row = { row: 0, tid: 1.5, name: 'a', role: 'track' };
  const rows = { type: 'rows', run_id: 'r', arm: 'a', rows: [{ ...row, tid: 1 }, row] };
  expect(check(readRows, rows)).toMatchObject({ place: 'rows.1.tid' });
  expect(check(readServerMessage, rows)).toMatchObject({
    place: 'rows.1.tid',
    complaint: 'Invalid input: expected int, received number',
  });
});

test('maps hold what they should, and no prototype of the sender', () => {
  const hostile = JSON.parse('{"__proto__": 1, "a": 2}');
  expect(check(map(integer), hostile)).toEqual({ ok: true, value: { a: 2 } });
  expect(check(map(number), new Uint8Array(2)).ok).toBe(false);
  expect(check(partial(oneOf('a'), integer), { b: 1 })).toMatchObject({ place: 'b' });
  expect(check(list(bytes, 1), [])).toMatchObject({ ok: false });
});
