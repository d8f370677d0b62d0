// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, test } from 'vitest';
import { startLoader } from './classic-chunks.ts';

type Define = (require: (name: string) => unknown, exports: Record<string, unknown>) => void;
type Script = readonly [string, Define];

/** What each script registers when it is loaded. Names without an entry do not exist. */
let host: Record<string, Define | 'style'> = {};
let asked: string[] = [];
const scope = globalThis as unknown as { duetScripts: { push(script: Script): unknown } };

beforeEach(() => {
  asked = [];
  // Answers later, like a host.
  document.head.append = (...elements) => {
    const [element] = elements as (HTMLScriptElement & HTMLLinkElement)[];
    const name =
      (element?.getAttribute('src') ?? element?.getAttribute('href') ?? '').split('/').at(-1) ?? '';
    asked.push(name);
    setTimeout(() => {
      const found = host[name];
      if (typeof found === 'function') scope.duetScripts.push([name, found]);
      element?.dispatchEvent(new Event(found === undefined ? 'error' : 'load'));
    });
  };
});
afterEach(() => {
  Reflect.deleteProperty(document.head, 'append');
});

const needs = (imports: string[] = [], styles: string[] = []) => ({ imports, styles });

/** Run an entry that imports the chunk `a.js` statically, and that keeps its `require`. */
function start(needed: Record<string, ReturnType<typeof needs>>) {
  let kept: (name: string) => unknown = () => undefined;
  scope.duetScripts = [
    ['a.js', (_, exports) => Object.assign(exports, { name: 'a' })],
    [
      'entry.js',
      (require, exports) => {
        kept = require;
        Object.assign(exports, { seen: require('./a.js') });
      },
    ],
  ] as Script[];
  startLoader('entry.js', {
    'entry.js': needs(['a.js'], ['page.css']),
    'a.js': needs(),
    ...needed,
  });
  return kept;
}

test('a static import is there at once, and a chunk runs once', () => {
  const require = start({});
  expect(require('./entry.js')).toEqual({ seen: { name: 'a' } });
  expect(require('./a.js')).toBe(require('./a.js'));
  expect(asked).toEqual([]);
});

test('an import on demand loads scripts and style sheets that are missing, and shares them', async () => {
  host = {
    'b.js': (require, exports) =>
      Object.assign(exports, { uses: [require('./c.js'), require('./a.js')] }),
    'c.js': (_, exports) => Object.assign(exports, { name: 'c' }),
    'd.js': (require, exports) => Object.assign(exports, { uses: require('./c.js') }),
    'b.css': 'style',
  };
  const require = start({
    'b.js': needs(['a.js', 'c.js'], ['page.css', 'b.css']),
    'c.js': needs(),
    'd.js': needs(['c.js'], ['b.css']),
  });
  const [b, again, d] = await Promise.all(['./b.js', './b.js', './d.js'].map(require));
  expect(b).toEqual({ uses: [{ name: 'c' }, { name: 'a' }] });
  expect(again).toBe(b);
  expect(d).toEqual({ uses: { name: 'c' } });
  expect(asked.toSorted()).toEqual(['b.css', 'b.js', 'c.js', 'd.js']);
});

test('a file that is missing is an error, and is asked for again later', async () => {
  host = {};
  const require = start({ 'b.js': needs() });
  await expect(require('./b.js')).rejects.toThrow('the file b.js beside this page is missing');
  host = { 'b.js': (_, exports) => Object.assign(exports, { name: 'b' }) };
  expect(await require('./b.js')).toEqual({ name: 'b' });
});
