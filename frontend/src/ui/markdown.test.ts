// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { plainParagraphs } from './markdown.tsx';

test('plain paragraphs keep the words, and lose the signs', () => {
  const text =
    '# A\n\nIt *waits* for `a_b`\nin [the kernel](https://x.org/a_(b)).\n\n\n- one\n- two\n';
  expect(plainParagraphs(text)).toEqual(['A', 'It waits for a_b\nin the kernel).', '- one\n- two']);
  expect(plainParagraphs('')).toEqual([]);
});
