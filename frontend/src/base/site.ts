// SPDX-License-Identifier: GPL-2.0-or-later
/** A page that `duet export --to site` wrote has no server; its site.js says which files lie with it. */

export interface Site {
  /** Slug of the one lesson it holds. */
  readonly lesson: string;
  /** Name of a part -> its script: greeting, lesson, and one by the name of each run. */
  readonly parts: Readonly<Record<string, string>>;
  /** The run that is shown when none is asked for. */
  readonly first: string;
  /** Step -> the run that fits it, the lesson's first step first. */
  readonly steps: Readonly<Record<string, string>>;
  /** The recording itself, where it lies beside the page. */
  readonly bundle: string | null;
  /** What scripts of parts have brought: gzip of framed messages, in base64. */
  readonly brought: Record<string, string>;
}

/** Null: the page came from a server. */
export function siteOf(scope: unknown = globalThis): Site | null {
  return (scope as { readonly duetSite?: Site }).duetSite ?? null;
}
