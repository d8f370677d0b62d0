// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { bringsChange, linkChars, packChange, unpackChange } from './link.ts';

const change = { arm: 'srcu', diff: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-ä\n+ß\n' };

it('comes back out of a link, which is letters of an address alone', async () => {
  const hash = (await packChange(change)) ?? '';
  expect(hash).toMatch(/^#change=[A-Za-z0-9_-]+$/);
  expect(bringsChange(hash)).toBe(true);
  expect(await unpackChange(hash)).toEqual(change);
});

it('is bounded', async () => {
  const dice = Array.from({ length: 9000 }, (_, i) => ((i * 2654435761) % 4294967291).toString(36));
  expect(await packChange({ arm: 'srcu', diff: dice.join('') })).toBeNull();
  const bomb = (await packChange({ arm: 'srcu', diff: 'x'.repeat(1_000_000) })) ?? '';
  expect(bomb.length).toBeLessThan(linkChars);
  expect(await unpackChange(bomb)).toBeNull();
});

it('is nothing where there is none', async () => {
  for (const hash of ['', '#change=', '#change=%%%', '#change=AAAA', '#other'])
    expect(await unpackChange(hash)).toBeNull();
});
