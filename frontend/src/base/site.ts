// SPDX-License-Identifier: GPL-2.0-or-later
/** A page written by `duet export --to site` has no server; its site.js lists the files next to the page. */

export interface Site {
  /** Slug of the site's lesson. */
  readonly lesson: string;
  /** Part -> its script: greeting, lesson, and one named after each run. */
  readonly parts: Readonly<Record<string, string>>;
  /** The run shown by default. */
  readonly first: string;
  /** Step -> the run that fits it, starting with the lesson's first step. */
  readonly steps: Readonly<Record<string, string>>;
  /** The recording's file, if it is beside the page. */
  readonly bundle: string | null;
  /** Contents that scripts of parts have delivered: gzip of framed messages, in base64. */
  readonly brought: Record<string, string>;
}

/** Null: the page came from a server. */
export function siteOf(scope: unknown = globalThis): Site | null {
  return (scope as { readonly duetSite?: Site }).duetSite ?? null;
}
