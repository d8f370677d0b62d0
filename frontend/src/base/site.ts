// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Describes a page that has no server. `duet export --to site` writes such a page, and a script site.js that lists the
 * files next to the page.
 */

export interface Site {
  /** Slug of the lesson that the site shows. */
  readonly lesson: string;
  /** The file name of each part's script. Parts are the greeting, the lesson, and each run by its name. */
  readonly parts: Readonly<Record<string, string>>;
  /** Name of the run that the page shows by default. */
  readonly first: string;
  /** The run that fits each step, in the order of the lesson's steps. */
  readonly steps: Readonly<Record<string, string>>;
  /** File name of the recording; null if the file is not next to the page. */
  readonly bundle: string | null;
  /** Contents of the parts whose scripts have loaded: framed messages, compressed with gzip, in base64. */
  readonly brought: Record<string, string>;
}

/** Returns the description of the site; null if the page came from a server. */
export function siteOf(scope: unknown = globalThis): Site | null {
  return (scope as { readonly duetSite?: Site }).duetSite ?? null;
}
