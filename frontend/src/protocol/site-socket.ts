// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Replaces the WebSocket on a page without a server. It plays the messages that a server would send. The parts of a
 * site are scripts, because a page that was opened from a file cannot load files of other types.
 */

import { afterPicture, pictureExpected } from '../base/first-picture.ts';
import { t } from '../base/lang/t.ts';
import { type Site, siteOf } from '../base/site.ts';
import { resolveStep } from '../base/typed.ts';
import { frames } from './decode.ts';
import type { ClientMessage, ErrorMessage } from './messages.ts';
import { decode, encode } from './msgpack.ts';

/** Maximum time, ms, for playing messages before a pause in which the page can paint. */
const sliceMs = 12;

/** Unpack the messages of a part: framed messages, compressed with gzip, in base64. */
export async function unpackPart(base64: string): Promise<ArrayBuffer[]> {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  return frames(bytes).map((frame) => frame.slice().buffer);
}

const loading = new Map<string, Promise<string>>();

/** Load a part by adding its script to the page. Concurrent calls share one script. */
export function loadPart(site: Site, name: string): Promise<string> {
  const here = site.brought[name];
  if (here !== undefined) return Promise.resolve(here);
  const part = loading.get(name) ?? addScript(site, name).finally(() => loading.delete(name));
  loading.set(name, part);
  return part;
}

function addScript(site: Site, name: string): Promise<string> {
  const file = site.parts[name];
  if (file === undefined) return Promise.reject(new Error(`there is no part ${name}`));
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const done = () => {
      script.remove();
      const came = site.brought[name];
      if (came === undefined) reject(new Error(`the file ${file} beside this page is missing`));
      else resolve(came);
    };
    script.onload = done;
    script.onerror = done;
    script.src = file;
    document.head.append(script);
  });
}

type LoadPart = typeof loadPart;

let neighbours: readonly string[] = [];
let isPrefetching = false;

/**
 * Load the parts of runs that a viewer may open next, one at a time while the browser is idle. Another call replaces the
 * runs that have not been loaded yet. Without a site this does nothing.
 *
 * @param ids ids of runs, the most likely first; runs that the site does not have are ignored
 */
export function prefetch(
  ids: readonly string[],
  site: Site | null = siteOf(),
  fetchPart: LoadPart = loadPart,
): void {
  if (site === null) return;
  neighbours = ids.filter((id) => id in site.parts && !(id in site.brought));
  if (!isPrefetching) prefetchNext(site, fetchPart);
}

function prefetchNext(site: Site, fetchPart: LoadPart): void {
  isPrefetching = neighbours.length > 0;
  if (!isPrefetching) return;
  afterPicture(async () => {
    const [id, ...others] = neighbours;
    neighbours = others;
    // A part that fails to load is loaded again, and reported, when the viewer opens its run.
    if (id !== undefined) await fetchPart(site, id).catch(() => undefined);
    prefetchNext(site, fetchPart);
  });
}

function refusal(sentence: string, remedy: string): ErrorMessage {
  return { type: 'error', code: 'site', sentence, remedy, detail: '' };
}

/** Plays the messages of a site. It implements the parts of WebSocket that openSocket uses. */
export class SiteSocket {
  readyState = 0;
  binaryType = 'arraybuffer';
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly #site: Site;
  readonly #fetch: LoadPart;
  /** Number of the current playback. A later `open` increments it, which cancels earlier playbacks. */
  #playing = 0;

  constructor(site: Site, fetchPart: LoadPart = loadPart) {
    this.#site = site;
    this.#fetch = fetchPart;
    setTimeout(() => this.#begin());
  }

  send(bytes: Uint8Array): void {
    const message = decode(bytes) as ClientMessage;
    if (message.type === 'open')
      void this.#open(message.lesson, message.run ?? null, message.step ?? null);
    else if (message.type !== 'ack' && message.type !== 'control')
      this.#say(
        refusal(
          t('This page plays a recording and has no server, so it cannot run anything.'),
          t('Start Kernel Duet with “make run” to run the lesson live.'),
        ),
      );
  }

  close(): void {
    this.readyState = 3;
    this.#playing += 1;
  }

  #begin(): void {
    if (this.readyState !== 0) return;
    if (typeof DecompressionStream === 'undefined') {
      this.readyState = 3;
      const reason = t(
        'This browser cannot unpack the recording. Use a browser from 2023 or later.',
      );
      this.onclose?.({ code: 4000, reason });
      return;
    }
    this.readyState = 1;
    this.onopen?.();
    void this.#play(['greeting'], () => this.readyState === 1);
  }

  /** Choose a run as a server does: the requested run, or if none is requested, the run that fits the step. */
  async #open(lesson: string, run: string | null, step: string | null): Promise<void> {
    this.#playing += 1;
    const mine = this.#playing;
    const site = this.#site;
    if (lesson !== site.lesson) {
      const sentence = t('This page contains only the lesson {lesson}.', { lesson: site.lesson });
      this.#say(refusal(sentence, t('Open the page without ?lesson in the address.')));
      return;
    }
    const unnamed = run === null || run === 'recorded';
    const chosen = unnamed ? this.#fitting(step) : run;
    const own = `recorded:${lesson}:${chosen}`;
    const part = own in site.parts ? own : chosen;
    const known = part in site.parts;
    await this.#play(known ? ['lesson', part] : ['lesson'], () => this.#playing === mine);
    pictureExpected();
    if (!known && chosen !== 'none')
      this.#say({
        ...refusal(
          t('This page does not contain the run “{chosen}”.', { chosen }),
          t('Choose a step to see other runs.'),
        ),
        run: chosen,
      });
  }

  #fitting(step: string | null): string {
    const { steps, first } = this.#site;
    const named = step === null ? null : (resolveStep(step, Object.keys(steps)) ?? step);
    return steps[named ?? ''] ?? Object.values(steps)[0] ?? first;
  }

  async #play(parts: readonly string[], wanted: () => boolean): Promise<void> {
    try {
      for (const part of parts) {
        let slice = performance.now();
        for (const message of await unpackPart(await this.#fetch(this.#site, part))) {
          if (!wanted()) return;
          this.onmessage?.({ data: message });
          if (performance.now() - slice < sliceMs) continue;
          await new Promise((go) => setTimeout(go));
          slice = performance.now();
        }
      }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      if (wanted())
        this.#say(
          refusal(t('This page is incomplete: {why}.', { why }), t('Export the site again.')),
        );
    }
  }

  #say(error: ErrorMessage): void {
    if (this.readyState === 1) this.onmessage?.({ data: encode(error).slice().buffer });
  }
}
