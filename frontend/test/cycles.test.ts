// SPDX-License-Identifier: GPL-2.0-or-later
/** No module of the page imports itself by way of others, types included. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const importing = /(?:from|import|import\()\s*'((?:\.|@page\/)[^']+\.tsx?)(?:\?[^']*)?'/g;

/** What each file of these folders imports, by names within the repository. */
function graphOf(...folders: readonly string[]): Map<string, readonly string[]> {
  const sources = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  return new Map(
    sources.map((name) => {
      const text = readFileSync(join(root, name), 'utf8');
      const to = [...text.matchAll(importing)].map(([, path = '']) =>
        path.startsWith('@page/')
          ? path.replace('@page', 'frontend/src')
          : normalize(join(dirname(name), path)),
      );
      return [name, to];
    }),
  );
}

/** A circle of imports, as the names on its way; null: there is none. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (name: string): readonly string[] | null => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return null;
    way.push(name);
    for (const next of graph.get(name) ?? []) {
      const found = visit(next);
      if (found) return found;
    }
    way.pop();
    done.add(name);
    return null;
  };
  for (const name of graph.keys()) {
    const found = visit(name);
    if (found) return found;
  }
  return null;
}

test('a circle is found', () => {
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', []],
    ['c', ['d']],
    ['d', ['c']],
  ]);
  expect(cycleIn(graph)).toEqual(['c', 'd', 'c']);
});

test('the page has none', () => {
  const graph = graphOf('frontend/src', 'lessons');
  expect(graph.size).toBeGreaterThan(100);
  expect(graph.get('frontend/src/main.tsx')).toContain('frontend/src/app.tsx');
  expect(cycleIn(graph)).toBeNull();
});
