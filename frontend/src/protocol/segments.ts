// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Runs that come as segments: the socket says which there are, and each is fetched once, for ever the same (docs/SEGMENTS.md).
 * They are applied by number, and messages of the run behind them. A number that was not announced is in the run's list.
 */

import { t } from '../base/lang/t.ts';
import { check } from './check.ts';
import { readServerMessage } from './contract.checks.gen.ts';
import type { Decoded } from './decoder.ts';
import type { SegmentsMessage, ServerMessage } from './messages.ts';

/** The address is not there: the server has cut the run anew, or deleted it. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

export interface SegmentSource {
  /** The unpacked bytes of a segment; rejects with Gone, or another error, after which it is asked again. */
  segment(runId: string, name: string, signal: AbortSignal): Promise<ArrayBuffer>;
  /** All segments that a run has. */
  list(runId: string, signal: AbortSignal): Promise<SegmentsMessage>;
}

export interface SegmentOptions {
  readonly source: SegmentSource;
  readonly decode: (bytes: ArrayBuffer) => Promise<readonly Decoded[]>;
  readonly deliver: (message: ServerMessage, tookMs: number) => void;
  readonly complain: (sentence: string) => void;
  readonly retryMs?: (attempt: number) => number;
}

const atOnce = 4;
/** Tries for one segment or list, doubled waits between them: half a minute in all. */
const tries = 8;
/** A run that is cut anew so often while one page looks at it is not fetched any more. */
const mostRestarts = 3;
/** Applying goes on in slices of so long, so that the page can draw. */
const sliceMs = 12;

interface Held {
  /** It comes behind this segment. */
  readonly behind: number;
  readonly message: ServerMessage;
  readonly tookMs: number;
}

/** What is known of the run that is watched. */
class Stream {
  readonly runId: string;
  /** The segment that is applied next. */
  next: number;
  newest = -1;
  /** Messages of the run came by the socket, too: what a list repeats of it is applied anew. */
  mixed = false;
  readonly names = new Map<number, string>();
  readonly coming = new Map<number, Promise<ArrayBuffer>>();
  readonly aborted = new AbortController();
  held: Held[] = [];
  applying = false;
  /** How often the server had cut the run anew. */
  readonly restarts: number;

  constructor(runId: string, next: number, restarts: number) {
    this.runId = runId;
    this.next = next;
    this.restarts = restarts;
  }

  get waits(): boolean {
    return this.next <= this.newest;
  }

  /** Takes out the messages that come behind what is applied. */
  due(): readonly Held[] {
    const due = this.held.filter((held) => held.behind < this.next);
    this.held = this.held.filter((held) => held.behind >= this.next);
    return due;
  }
}

function runOf(message: ServerMessage): string | null {
  if (message.type === 'error') return message.run ?? null;
  if (message.type === 'control' || message.type === 'begun') return null;
  return 'run_id' in message && typeof message.run_id === 'string' ? message.run_id : null;
}

export class SegmentFeed {
  readonly #options: SegmentOptions;
  #stream: Stream | null = null;

  constructor(options: SegmentOptions) {
    this.#options = options;
  }

  /** The page asks for another run, or is closed: nothing more of this one is wanted. */
  forget(): void {
    this.#stream?.aborted.abort();
    this.#stream = null;
  }

  /** A message of the socket, in its order. */
  take(message: ServerMessage, tookMs: number): void {
    if (message.type === 'segments') return this.#announced(message);
    const stream = this.#stream;
    if (stream !== null) {
      const other = message.type === 'begun' || message.type === 'run' ? message.run_id : null;
      if (other !== null && other !== stream.runId) this.forget();
      else if (runOf(message) === stream.runId) {
        stream.mixed = true;
        if (stream.waits) {
          stream.held.push({ behind: stream.newest, message, tookMs });
          return;
        }
      }
    }
    this.#options.deliver(message, tookMs);
  }

  #announced(list: SegmentsMessage): void {
    const first = list.segments[0];
    if (first === undefined) return;
    const stream = this.#stream;
    if (stream === null || stream.runId !== list.run_id) return this.#begin(list, first.n, 0);
    const other = list.segments.some(({ n, digest }) => (stream.names.get(n) ?? digest) !== digest);
    if (other || (stream.mixed && first.n < stream.next))
      return this.#begin(list, first.n, stream.restarts + Number(other));
    this.#add(stream, list);
  }

  #begin(list: SegmentsMessage, from: number, restarts: number): void {
    this.forget();
    if (restarts > mostRestarts)
      return this.#options.complain(t('This run is cut anew again and again. Reload the page.'));
    this.#stream = new Stream(list.run_id, from, restarts);
    this.#add(this.#stream, list);
  }

  #add(stream: Stream, { segments }: SegmentsMessage): void {
    for (const { n, digest } of segments) {
      stream.names.set(n, digest);
      stream.newest = Math.max(stream.newest, n);
    }
    void this.#apply(stream);
  }

  /** Fetches and applies what is there, one after another. */
  async #apply(stream: Stream): Promise<void> {
    this.#fetchAhead(stream);
    if (stream.applying) return;
    stream.applying = true;
    try {
      while (stream.waits && this.#stream === stream) {
        const bytes = await this.#bytes(stream, stream.next);
        if (this.#stream !== stream) return;
        const messages = await this.#options.decode(bytes);
        await this.#deliver(stream, messages);
        stream.coming.delete(stream.next);
        stream.next += 1;
        this.#release(stream);
        this.#fetchAhead(stream);
      }
    } catch (cause) {
      if (this.#stream === stream) this.#fail(stream, cause);
    } finally {
      stream.applying = false;
    }
  }

  async #deliver(stream: Stream, messages: readonly Decoded[]): Promise<void> {
    let slice = performance.now();
    for (const one of messages) {
      if (this.#stream !== stream) return;
      if (one.message === undefined) this.#options.complain(unreadable(one.complaint));
      else this.#options.deliver(one.message, one.tookMs);
      if (performance.now() - slice < sliceMs) continue;
      await new Promise((go) => setTimeout(go));
      slice = performance.now();
    }
  }

  #release(stream: Stream): void {
    for (const { message, tookMs } of stream.due()) this.#options.deliver(message, tookMs);
  }

  #fetchAhead(stream: Stream): void {
    for (let n = stream.next; n <= stream.newest && n < stream.next + atOnce; n++) {
      const digest = stream.names.get(n);
      if (digest === undefined) return;
      if (stream.coming.has(n)) continue;
      const bytes = again(stream, this.#options, (source, signal) =>
        source.segment(stream.runId, `${n}-${digest}`, signal),
      );
      bytes.catch(() => {}); // whoever waits for it handles it
      stream.coming.set(n, bytes);
    }
  }

  /** One segment; a number that was not announced is looked for in the list. */
  async #bytes(stream: Stream, n: number): Promise<ArrayBuffer> {
    if (!stream.names.has(n)) {
      this.#announced(await listOf(stream, this.#options));
      if (this.#stream === stream && !stream.names.has(n))
        throw new Error(`the server does not have segment ${n}`);
    }
    this.#fetchAhead(stream);
    return stream.coming.get(n) ?? Promise.reject(new Error('it is not wanted any more'));
  }

  /** A segment that is gone: its run was cut anew, which the list says. After other errors the run goes on with a gap. */
  #fail(stream: Stream, cause: unknown): void {
    if (!(cause instanceof Gone)) {
      const why = cause instanceof Error ? cause.message : String(cause);
      return this.#giveUp(stream, t('A part of this run could not be fetched: {why}.', { why }));
    }
    const gone = stream.names.get(stream.next);
    listOf(stream, this.#options).then(
      (list) => {
        const first = list.segments[0];
        if (this.#stream !== stream) return;
        if (first === undefined || list.segments.some(({ digest }) => digest === gone))
          this.#giveUp(stream, t('A part of this run is not there any more.'));
        else this.#begin(list, first.n, stream.restarts + 1);
      },
      () => this.#giveUp(stream, t('This run is not there any more.')),
    );
  }

  #giveUp(stream: Stream, why: string): void {
    if (this.#stream !== stream) return;
    this.forget();
    this.#options.complain(t('{why} Reload the page.', { why }));
    for (const { message, tookMs } of stream.held) this.#options.deliver(message, tookMs);
  }
}

function listOf(stream: Stream, options: SegmentOptions): Promise<SegmentsMessage> {
  return again(stream, options, (source, signal) => source.list(stream.runId, signal));
}

/** Asks until it is answered, a few times. */
async function again<T>(
  stream: Stream,
  { source, retryMs = (attempt) => 125 * 2 ** attempt }: SegmentOptions,
  ask: (source: SegmentSource, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(source, stream.aborted.signal);
    } catch (cause) {
      if (cause instanceof Gone || attempt === tries || stream.aborted.signal.aborted) throw cause;
      await new Promise((go) => setTimeout(go, retryMs(attempt)));
    }
  }
}

function unreadable(complaint: string | undefined): string {
  return t('A segment of the run could not be read: {complaint}', { complaint });
}

// Segments by HTTP, below the page's own address. The browser unpacks them, and keeps them: they never change.

/** A server or proxy that sends nothing for so long is asked again. Usual: 5-100 ms. */
const fetchMs = 15_000;

/** Null: this browser is older than 2024 and cannot end a fetch by either of two signals; runs come as messages. */
export function fetchedSegments(page: string): SegmentSource | null {
  if (typeof AbortSignal.any !== 'function') return null;
  async function get(path: string, signal: AbortSignal): Promise<Response> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
    const response = await fetch(new URL(path, page), { signal: within });
    if (response.status === 404) throw new Gone(`${path} is not there`);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return response;
  }
  return {
    async segment(runId, name, signal) {
      const response = await get(`segments/${encodeURIComponent(runId)}/${name}`, signal);
      return response.arrayBuffer();
    },
    async list(runId, signal) {
      const path = `api/runs/${encodeURIComponent(runId)}/segments`;
      const checked = check(readServerMessage, await (await get(path, signal)).json());
      if (!checked.ok || checked.value.type !== 'segments')
        throw new Error('the list of segments came in a shape that this page does not know');
      return checked.value;
    },
  };
}
