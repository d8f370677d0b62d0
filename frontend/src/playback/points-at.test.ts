// SPDX-License-Identifier: GPL-2.0-or-later
/** Which marks answer a question: its kind and those that are right as well, on its lane or on any. */

import { expect, test } from 'vitest';
import type { Mark, RunIndex } from '../derive/types.ts';
import { pointsAt } from './hooks.ts';

const index = { kinds: [{ name: 'gp_check' }, { name: 'gp_recheck' }, { name: 'armed' }] };
const right = (kind: number, arm: string, question: object) =>
  pointsAt(index as unknown as RunIndex, { kind, arm } as Mark, {
    kind: 'gp_check',
    arm: 'srcu',
    ...question,
  });

test('its kind on its lane', () => {
  expect([right(0, 'srcu', {}), right(1, 'srcu', {}), right(0, 'rwsem', {})]).toEqual([
    true,
    false,
    false,
  ]);
});

test('another kind, and any lane, where the lesson says so', () => {
  const also = { also: ['gp_recheck'] };
  expect([right(1, 'srcu', also), right(1, 'rwsem', also), right(2, 'srcu', also)]).toEqual([
    true,
    false,
    false,
  ]);
  const any = { any_lane: true };
  expect([right(0, 'rwsem', any), right(2, 'rwsem', any)]).toEqual([true, false]);
});
