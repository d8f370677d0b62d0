// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { onScreen, rowsBeyond, verdictLines } from './verdict-lines.ts';

const proven =
  'SRCU -89.9 % against rwsem, worse (95 % interval 0.08 to 0.13 of rwsem, n = 5, p = 0.0079).';
const none =
  'SRCU delayed against rwsem: no difference proven (95 % interval 0.86 to 1.4 of rwsem, n = 5).';

test('a sentence for each kernel is a line, with a minus and a unit of a screen', () => {
  expect(verdictLines(`${proven} ${none}`)).toEqual([proven.replace('-89.9', '−89.9'), none]);
  expect(
    verdictLines('No verdict on a against b: n < 5. No verdict on c against b: traced.'),
  ).toHaveLength(2);
  expect(verdictLines('')).toEqual([]);
  expect(onScreen('fifth drop_caches, us, lower is better')).toBe(
    'fifth drop_caches, µs, lower is better',
  );
  expect(onScreen('SRCU-expedited uses rcu-sync')).toBe('SRCU-expedited uses rcu-sync');
});

test('a row says only what the sentences do not', () => {
  const row = (arm: string, verdict: string) =>
    ({ arm, verdict }) as MeasuredMessage['rows'][number];
  const rows = [
    row('rwsem', ''),
    row('srcu-delayed', 'no difference proven'),
    row('srcu', 'the host was busy'),
  ];
  expect(rowsBeyond({ rows, verdict: `${proven} ${none}` }).map(({ arm }) => arm)).toEqual([
    'srcu',
  ]);
});
