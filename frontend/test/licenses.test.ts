// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { sharedOnce } from '../tools/licenses.ts';

const mit = (year: number, end = 'THE SOFTWARE IS PROVIDED "AS IS".') =>
  `MIT License\n\nCopyright (c) ${year} A\n\nPermission is granted.\n\n${end}\n`;

test('a text that packages share is written once, and each copyright line stays', () => {
  const text = `# Licenses\n\n## a - 1 (MIT)\n\n${mit(2001)}\n## b - 2 (MIT)\n\n${mit(2002)}\n## c - 3 (MIT)\n\n${mit(2003, 'Other words.')}`;
  const once = sharedOnce(text);
  expect(once.match(/Permission is granted/g)).toHaveLength(2);
  for (const year of [2001, 2002, 2003]) expect(once).toContain(`Copyright (c) ${year} A`);
  expect(once).toContain('## b - 2 (MIT)\n\nCopyright (c) 2002 A\n\nThe text is that of a above.');
  expect(sharedOnce('# Licenses\n\nnone\n')).toBe('# Licenses\n\nnone\n');
});
