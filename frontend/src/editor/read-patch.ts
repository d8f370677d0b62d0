// SPDX-License-Identifier: GPL-2.0-or-later
/** A file that the viewer dropped or chose. */

const mostBytes = 4_000_000;

/** Text that has a diff; null: it has none. */
export async function readPatch(file: Blob): Promise<string | null> {
  if (file.size > mostBytes) return null;
  const text = await file.text();
  const { diffOf } = await import('./diff.ts');
  return diffOf(text) || null;
}
