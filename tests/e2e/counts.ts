// SPDX-License-Identifier: GPL-2.0-or-later
/** The counts beside the stage: what a picture's own view says of each lane. */

import type { Page } from '@playwright/test';

/** Figures of a lane by their heading, all read at once: they change while it plays. */
export async function countsOf(page: Page, arm: string): Promise<(head: string) => number> {
  const cells = page.getByTestId('counts').locator(`td[data-arm=${arm}]`);
  const all = await cells.evaluateAll((tds) =>
    tds.map((td) => [td.getAttribute('data-head'), Number((td.textContent ?? '').replaceAll(',', ''))] as const),
  );
  return (head) => all.find(([name]) => name === head)?.[1] ?? Number.NaN;
}
