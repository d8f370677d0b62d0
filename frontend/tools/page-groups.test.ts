// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { groupOf } from './page-groups.ts';

test('a module belongs to the first group whose start imports it, also through others and in a circle', () => {
  const graph: Record<string, readonly string[]> = {
    main: ['a'],
    a: ['b'],
    b: ['a'],
    app: ['b', 'c'],
    late: ['c', 'd'],
  };
  const lookup = { getModuleInfo: (id: string) => ({ importedIds: graph[id] ?? [] }) };
  const group = groupOf({ base: 'main', app: 'app' });
  const found = ['main', 'a', 'b', 'app', 'c', 'late', 'd'].map((id) => group(id, lookup));
  expect(found).toEqual(['base', 'base', 'base', 'app', 'app', null, null]);
});
