// SPDX-License-Identifier: GPL-2.0-or-later
/** From a line of a patch to the marks of its function, and back. */

import { expect, test } from 'vitest';
import { anyIndex } from '../../test/fixtures/timeline.ts';
import { markOf, spansIn } from '../derive/query.ts';
import { functionOf, nextMark, ranOn } from './caused.ts';

const index = anyIndex(`
  before
  work-0  RRRWWWRRRR
  f>      FFFFFF.FFF
  f>      .GGGGG....
  work-1  RRRRRRRRRR
  f>      ...FFFF...
  after
  work-0  RRRRRRRRRR
`);
const [before] = index.lanes;
const outer = [...spansIn(before!, 'function', 0, Number.POSITIVE_INFINITY)]
  .filter(({ kind }) => index.kinds[kind]?.name === 'outer')
  .map(({ t0 }) => t0)
  .sort((a, b) => a - b);

test('the next mark of a function is the one that begins next, on whatever row, and after the last the first', () => {
  expect(outer.length).toBe(3);
  const from = (now: number) => nextMark(index, 'before', 'outer', now)?.t0;
  expect([from(-1), from(outer[0]!), from(outer[1]!), from(outer[2]!)]).toEqual([
    ...outer,
    outer[0],
  ]);
  expect(nextMark(index, 'after', 'outer', 0)).toBeNull();
  expect(nextMark(null, 'before', 'outer', 0)).toBeNull();
});

test('what ran on a lane is found in its calls', () => {
  expect(ranOn(index, 'before', 'middle')).toBe(true);
  expect(ranOn(index, 'before', 'inner')).toBe(false);
  expect(ranOn(index, 'after', 'middle')).toBe(false);
});

test('a mark leads to the innermost function that it lies in, and a call to itself', () => {
  const kinds = new Set(['outer', 'middle']);
  const mark = (layer: 'state' | 'function', kind: string) => {
    const spans = spansIn(before!, layer, 0, Number.POSITIVE_INFINITY);
    const span = [...spans].find((one) => index.kinds[one.kind]?.name === kind)!;
    return markOf('before', span);
  };
  expect(functionOf(index, mark('state', 'wait_disk'), kinds)).toEqual({
    arm: 'before',
    kind: 'middle',
  });
  expect(functionOf(index, mark('state', 'wait_disk'), new Set(['outer']))?.kind).toBe('outer');
  expect(functionOf(index, mark('function', 'outer'), kinds)?.kind).toBe('outer');
  expect(functionOf(index, mark('state', 'wait_disk'), new Set(['inner']))).toBeNull();
  expect(functionOf(index, null, kinds)).toBeNull();
});
