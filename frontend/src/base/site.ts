// SPDX-License-Identifier: GPL-2.0-or-later
/** A page that `duet export --to site` wrote has no server. Its site.js lists the files next to the page. */

export interface Site {
  /** Slug of the site's lesson. */
  readonly lesson: string;
  /** The script of each part. Parts are the greeting, the lesson, and each run by its name. */
  readonly parts: Readonly<Record<string, string>>;
  /** The run shown by default. */
  readonly first: string;
  /** The run that fits each step, beginning with the lesson's first step. */
  readonly steps: Readonly<Record<string, string>>;
  /** File name of the recording; null if it is not next to the page. */
  readonly bundle: string | null;
  /** Contents of parts that their scripts have delivered: framed messages, compressed with gzip, in base64. */
  readonly brought: Record<string, string>;
}

/** Returns null if the page came from a server. */
export function siteOf(scope: unknown = globalThis): Site | null {
  return (scope as { readonly duetSite?: Site }).duetSite ?? null;
}
