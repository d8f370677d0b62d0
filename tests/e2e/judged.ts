// SPDX-License-Identifier: GPL-2.0-or-later
/** A page as axe judges it, in both themes. */

import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { animated } from './moments.ts';
import { resized } from './walk.ts';

const grave = ['serious', 'critical'];

async function judged(page: Page, where: string, rules?: string[]): Promise<void> {
  // What moves is not judged half-way.
  await animated(page);
  // The other mode opens a page of its own for each look, for the sake of frames; there are none here.
  expect(page.frames().length, where).toBe(1);
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  const found = violations
    .filter((v) => grave.includes(v.impact ?? ''))
    .map(
      (v) =>
        `${v.id}: ${v.help} (${v.nodes
          .slice(0, 3)
          .map((n) => n.target.join(' '))
          .join('; ')})`,
    );
  expect(found, where).toEqual([]);
}

export async function themed(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-theme', scheme);
}

/** In light by every rule; dark differs in colour alone. */
export async function judgedTwice(page: Page, where: string): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await themed(page, scheme);
    await judged(page, `${where}, ${scheme}`, scheme === 'dark' ? ['color-contrast'] : undefined);
  }
}

/** By every rule where the window is narrower than a desk; it stays so. */
export async function judgedSmall(page: Page, where: string): Promise<void> {
  for (const size of ['900x700', '390x844']) {
    await resized(page, size);
    await judged(page, `${where} ${size}`);
  }
}
