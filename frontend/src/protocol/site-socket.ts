// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Replaces the WebSocket on a page without a server. It plays the messages that a server would send. The parts of a
 * site are scripts, because a page that was opened from a file cannot load files of other types.
 */

import { decode, encode } from '@msgpack/msgpack';
import { t } from '../base/lang/t.ts';
import type { Site } from '../base/site.ts';
import { resolveStep } from '../base/typed.ts';
import { frames } from './decode.ts';
import type { ClientMessage, ErrorMessage } from './messages.ts';

/** Maximum time, ms, for playing messages before a pause in which the page can paint. */
const sliceMs = 12;

/** Unpack the messages of a part: framed messages, compressed with gzip, in base64. */
export async function unpackPart(base64: string): Promise<ArrayBuffer[]> {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  return frames(bytes).map((frame) => frame.slice().buffer);
}

/** Load a part by adding its script to the page. */
export function loadPart(site: Site, name: string): Promise<string> {
  const here = site.brought[name];
  if (here !== undefined) return Promise.resolve(here);
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
  readonly #fetch: (site: Site, name: string) => Promise<string>;
  /** Number of the current playback. A later `open` increments it, which cancels earlier playbacks. */
  #playing = 0;

  constructor(site: Site, fetchPart: (site: Site, name: string) => Promise<string> = loadPart) {
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
