// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Describes a page that has no server. `duet export --to site` writes such a page, and a script site.js that lists the
 * files next to the page.
 */

export interface Site {
  /** Slug of the lesson that the site shows. */
  readonly lesson: string;
  /**
   * The file name of each part's script. The parts are the greeting, the lesson, and the runs, each run under its own
   * name.
   */
  readonly parts: Readonly<Record<string, string>>;
  /** Name of the run that the page shows by default. */
  readonly first: string;
  /** The run that fits each step, in the order of the lesson's steps. */
  readonly steps: Readonly<Record<string, string>>;
  /** File name of the recording; null if the file is not next to the page. */
  readonly bundle: string | null;
  /** File name of the style sheet with the fonts, which the page adds after its first picture. */
  readonly fonts: string;
  /** File name of the service worker that stores the site in the browser. */
  readonly worker: string;
  /** Contents of the parts whose scripts have loaded: framed messages, compressed with gzip, in base64. */
  readonly brought: Record<string, string>;
}

/** Whether the files come from a network. If they come from a service worker or from the disk, they arrive at once. */
export function isRemote(): boolean {
  return location.protocol.startsWith('http') && !serviceWorkers()?.controller;
}

/** Store all files of the site in the browser, so that the site opens without a network. */
export async function storeSite({ worker }: Site): Promise<void> {
  if (!location.protocol.startsWith('http')) return;
  // If the worker cannot be registered, the site works as before, but only with a network.
  await serviceWorkers()
    ?.register(worker, { updateViaCache: 'none' })
    .catch(() => undefined);
}

/** Browsers have no service workers for pages without TLS, and deny them to some frames. */
function serviceWorkers(): ServiceWorkerContainer | null {
  try {
    return navigator.serviceWorker ?? null;
  } catch {
    return null;
  }
}

/** Returns the description of the site; null if the page came from a server. */
export function siteOf(scope: unknown = globalThis): Site | null {
  return (scope as { readonly duetSite?: Site }).duetSite ?? null;
}
