// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Loads runs that the server delivers as segments. The socket announces the segments. The page fetches each segment
 * once over HTTP, since a segment never changes (docs/SEGMENTS.md). Segments are applied in order. Messages about the
 * run that arrive over the socket are applied between the segments. If a segment was not announced, the page looks it
 * up in the run's list of segments.
 */

import { t } from '../base/lang/t.ts';
import { check } from './check.ts';
import { readServerMessage } from './contract.checks.gen.ts';
import type { Decoded } from './decoder.ts';
import { fetchesSegments } from './early.ts';
import type { SegmentsMessage, ServerMessage } from './messages.ts';

/** HTTP 404: the server has split the run into new segments, or has deleted the run. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

export interface SegmentSource {
  /** Fetch a segment and uncompress it. A rejection with Gone is final; after any other error, the page retries. */
  segment(runId: string, name: string, signal: AbortSignal): Promise<ArrayBuffer>;
  /** List all segments of a run. */
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
/**
 * Number of attempts to fetch a segment or list. With exponential backoff, all attempts together take half a minute.
 */
const tries = 8;
/** Maximum number of times that loading of a run starts over before the page gives up. */
const mostRestarts = 3;
/** Maximum time, ms, for applying messages before a pause in which the page can paint. */
const sliceMs = 12;

interface Held {
  /** Number of the segment after which this message must be applied. */
  readonly behind: number;
  readonly message: ServerMessage;
  readonly tookMs: number;
}

/** The state of the run that is being watched. */
class Stream {
  readonly runId: string;
  /** Number of the next segment to apply. */
  next: number;
  newest = -1;
  /**
   * Whether the socket has also sent messages of this run. If a list of segments repeats these messages, loading starts
   * over.
   */
  mixed = false;
  readonly names = new Map<number, string>();
  readonly coming = new Map<number, Promise<ArrayBuffer>>();
  readonly aborted = new AbortController();
  held: Held[] = [];
  applying = false;
  /** Number of times that the server has split the run into new segments. */
  readonly restarts: number;

  constructor(runId: string, next: number, restarts: number) {
    this.runId = runId;
    this.next = next;
    this.restarts = restarts;
  }

  get waits(): boolean {
    return this.next <= this.newest;
  }

  /** Remove and return the held messages that come directly after the segments applied so far. */
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

  /** Stop loading the current run, because another run was opened or the page closes. */
  forget(): void {
    this.#stream?.aborted.abort();
    this.#stream = null;
  }

  /** Accept a message from the socket. The caller must pass messages in the order of their arrival. */
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
      return this.#options.complain(
        t('The server keeps splitting this run into new segments. Reload the page.'),
      );
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

  /** Fetch the segments and apply them in order. */
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
      bytes.catch(() => {}); // Prevents an unhandled rejection; the code that awaits the promise handles it.
      stream.coming.set(n, bytes);
    }
  }

  /** Fetch one segment. If the segment was not announced, look it up in the list of segments first. */
  async #bytes(stream: Stream, n: number): Promise<ArrayBuffer> {
    if (!stream.names.has(n)) {
      this.#announced(await listOf(stream, this.#options));
      if (this.#stream === stream && !stream.names.has(n))
        throw new Error(`the server does not have segment ${n}`);
    }
    this.#fetchAhead(stream);
    return stream.coming.get(n) ?? Promise.reject(new Error('it is not wanted any more'));
  }

  /**
   * If a segment is missing, the server has split the run into new segments, so request the list again. After any other
   * error, the page tells the viewer to reload, and a live run continues with a gap.
   */
  #fail(stream: Stream, cause: unknown): void {
    if (!(cause instanceof Gone)) {
      const why = cause instanceof Error ? cause.message : String(cause);
      return this.#giveUp(stream, t('Part of this run could not be fetched: {why}.', { why }));
    }
    const gone = stream.names.get(stream.next);
    listOf(stream, this.#options).then(
      (list) => {
        const first = list.segments[0];
        if (this.#stream !== stream) return;
        if (first === undefined || list.segments.some(({ digest }) => digest === gone))
          this.#giveUp(stream, t('A part of this run no longer exists.'));
        else this.#begin(list, first.n, stream.restarts + 1);
      },
      () => this.#giveUp(stream, t('This run no longer exists.')),
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

/** Make a request, and retry it after an error. */
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

// Fetches segments over HTTP, relative to the page's own address.
// The browser uncompresses segments, and caches them because they never change.

/** Timeout after which a fetch is aborted and retried, ms. A fetch typically takes 5 to 100 ms. */
const fetchMs = 15_000;

/** Returns null if the browser cannot fetch segments. */
export function fetchedSegments(page: string): SegmentSource | null {
  if (!fetchesSegments()) return null;
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
