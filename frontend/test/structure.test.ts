// SPDX-License-Identifier: GPL-2.0-or-later
/** No file of the page, and no class or function in one, has grown into a junk drawer. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../src', import.meta.url));
const fileLines = 400;
/** Nine files of ten have at most so many lines. */
const usualLines = 200;
const blockLines = 150;

const opening =
  /^(?:export )?(?:default )?(?:async )?(?:abstract )?(?:class|function\*?|const) (\w+)/;

/** Top-level classes, functions and constants of a formatted file, by name -> lines. */
function blocksOf(text: string): Map<string, number> {
  const found = new Map<string, number>();
  let [name, from] = ['', 0];
  text.split('\n').forEach((line, at) => {
    const begun = opening.exec(line);
    if (begun) [name, from] = [begun[1] ?? '', at];
    else if (/^[}\])]/.test(line) && name) {
      // `): string {` closes parameters only.
      if (line.endsWith('{')) return;
      found.set(name, at - from + 1);
      name = '';
    }
  });
  return found;
}

const files = new Map(
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(gen|test)\./.test(name))
    .map((name) => [name, readFileSync(join(root, name), 'utf8')]),
);

test('files are short', () => {
  const sizes = [...files].map(([name, text]) => ({ name, n: text.split('\n').length - 1 }));
  expect(sizes.filter(({ n }) => n > fileLines)).toEqual([]);
  const rising = sizes.map(({ n }) => n).sort((a, b) => a - b);
  expect(rising.length).toBeGreaterThan(250);
  expect(rising[Math.floor(rising.length * 0.9)]).toBeLessThanOrEqual(usualLines);
});

test('classes and functions are short', () => {
  const longer = [...files].flatMap(([name, text]) =>
    [...blocksOf(text)].flatMap(([block, n]) => (n > blockLines ? [`${name}:${block}: ${n}`] : [])),
  );
  expect(longer).toEqual([]);
});

test('a block is counted from its first to its last line', () => {
  const text = 'export class A {\n  b() {\n  }\n}\nfunction c(\n  d: number,\n): string {\n}\n';
  expect([...blocksOf(text)]).toEqual([
    ['A', 4],
    ['c', 4],
  ]);
});
