// SPDX-License-Identifier: GPL-2.0-or-later
/** From the attributes of <kernel-duet> to the address of its frame. Pure. */

/** Attributes that go into the address as they stand; `Place` reads them. */
export const placed = [
  ...(['lesson', 'step', 'at', 'run', 'with', 'arms', 'speed', 'align', 'n'] as const),
  ...(['from', 'for', 'knobs', 'clock', 'workload', 'open', 'lang'] as const),
] as const;

export type Attributes = (name: string) => string | null;

/** The folder of the page: `src`, or where this script lies. Only http, https and files. */
export function folderOf(src: string | null, script: string, document: string): URL | null {
  try {
    const folder = new URL(src ?? './', src === null ? script || document : document);
    return /^(https?|file):$/.test(folder.protocol) ? folder : null;
  } catch {
    return null;
  }
}

/** The page for a frame, at the place that the attributes name. */
export function frameAddress(folder: URL, of: Attributes): string {
  const query = new URLSearchParams({ embed: '1' });
  for (const name of placed) {
    const value = of(name);
    if (value !== null && value !== '') query.set(name, value);
  }
  const page = new URL(folder);
  // A folder that was opened as a file has no server that finds its index.
  if (page.protocol === 'file:' && page.pathname.endsWith('/')) page.pathname += 'index.html';
  page.search = query.toString();
  page.hash = '';
  return page.href;
}

/** `16/9` or `4 / 3` as CSS takes it; else the usual one. */
export function ratioOf(text: string | null): string {
  const match = /^\s*(\d{1,4})\s*[/:]\s*(\d{1,4})\s*$/.exec(text ?? '');
  return match ? `${match[1]} / ${match[2]}` : '16 / 10';
}
