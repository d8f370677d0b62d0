// SPDX-License-Identifier: GPL-2.0-or-later
/** A plug-in is a folder that the rest of the page does without: nobody names it, and it uses those alone that it says. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { collectPlugins, type Plugin } from '../src/plugins.tsx';
import { found } from '../src/plugins-found.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const importing = /(?:from|import|import\(|mock\()\s*'(\.[^']+)'/g;
const ofPlugin = /^src\/plugins\/([^/]+)\//;
const plugins = collectPlugins(found);

/** Files of the page and of its tests, with what each imports. */
function* files(): Generator<readonly [string, readonly string[]]> {
  for (const folder of ['src', 'test'])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name)) continue;
      const path = join(folder, name);
      const text = readFileSync(join(root, path), 'utf8');
      const to = [...text.matchAll(importing)].map(([, at = '']) =>
        normalize(join(dirname(path), at)),
      );
      yield [path, to];
    }
}

test('each is called like its folder', () => {
  const folders = Object.keys(found).map((path) => path.split('/')[2]);
  expect(plugins.map(({ name }) => name)).toEqual(folders.toSorted());
});

test('no file outside a plug-in imports from it, but for those that say they need it', () => {
  const needs = new Map(plugins.map(({ name, requires = [] }) => [name, requires]));
  const named: string[] = [];
  for (const [path, imported] of files()) {
    const own = ofPlugin.exec(path)?.[1];
    for (const to of imported) {
      const other = ofPlugin.exec(to)?.[1];
      if (other === undefined || other === own) continue;
      if (own === undefined || !needs.get(own)?.includes(other)) named.push(`${path}: ${to}`);
    }
  }
  expect(named).toEqual([]);
});

test('one that lacks another which it needs stops the page', () => {
  const module = (plugin: Plugin) => ({ plugin });
  const labs = module({ name: 'b', requires: ['a'] });
  expect(() => collectPlugins({ b: labs })).toThrow('the plug-in b needs a');
  const both = collectPlugins({ b: labs, a: module({ name: 'a' }) });
  expect(both.map(({ name }) => name)).toEqual(['a', 'b']);
});
