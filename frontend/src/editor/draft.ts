// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer typed, as a diff in this browser, for each arm of each lesson. */

/** The bound of a message of the server's (CHANGE_CHARS in stream/messages/change.py). */
export const diffChars = 48_000;

function key(slug: string, arm: string): string {
  return `duet.change.${slug}.${arm}`;
}

/** Empty: nothing is there. */
export function readDraft(slug: string, arm: string): string {
  try {
    return localStorage.getItem(key(slug, arm)) ?? '';
  } catch {
    return '';
  }
}

/** An empty text takes it away; one above the bound is not taken. */
export function writeDraft(slug: string, arm: string, diff: string): void {
  if (diff.length > diffChars) return;
  try {
    if (diff === '') localStorage.removeItem(key(slug, arm));
    else localStorage.setItem(key(slug, arm), diff);
  } catch {
    // A full or forbidden store loses the memory, not the text on the page.
  }
}
