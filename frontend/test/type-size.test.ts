// SPDX-License-Identifier: GPL-2.0-or-later
/** No text of the page is smaller than 13 px, whatever it stands in; paper has its own measure. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const leastPx = 13;
/** Printed. */
const paper = /handout\.css$/;

test('no style sheet makes letters smaller than 13 px', () => {
  const sheets = ['frontend/src', 'lessons']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((name) => name.endsWith('.css') && !paper.test(name));
  expect(sheets.length).toBeGreaterThan(20);
  const small = sheets.flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    return [...text.matchAll(/font(?:-size)?: *([^;]+);/g)]
      .filter(([, value = '']) => isSmall(value))
      .map(([line]) => `${name}: ${line}`);
  });
  expect(small).toEqual([]);
});

/** A share of what is around it may be of any size, unless `max()` bounds it. */
function isSmall(value: string): boolean {
  const [, size = '', unit] = /(?<![\w.])(\d*\.?\d+)(px|em|%)/.exec(value) ?? [];
  if (value.includes('max(') || unit === undefined) return false;
  return unit === 'px' ? Number(size) < leastPx : Number(size) < (unit === '%' ? 100 : 1);
}
