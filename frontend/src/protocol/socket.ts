// SPDX-License-Identifier: GPL-2.0-or-later
/** The socket to the server. It connects, reconnects, and explains why the page is not connected. */

import { t } from '../base/lang/t.ts';
import { createDecoder, type Decoded, type Decoder } from './decoder.ts';
import type { ClientMessage, ServerMessage } from './messages.ts';
import { encode } from './msgpack.ts';
import { SegmentFeed, type SegmentSource } from './segments.ts';

// Detects a dead connection that was not closed, for example after a suspended laptop, lost network, or hung server.
// The server sends a message at least every 15 s (HEARTBEAT_S in stream/viewer.py).

const silentMs = 45_000;
/** Timeout for connecting, ms. Without it, a proxy in front of a hung server could keep the page waiting. */
const connectMs = 20_000;
const checkMs = 5000;

class SilenceTimer {
  #timer: ReturnType<typeof setInterval> | undefined;
  #last = 0;

  /** Call `silent` if no message arrives within `withinMs`. */
  start(withinMs: number, silent: () => void): void {
    this.stop();
    this.came();
    // Wall-clock time also advances during a suspension, so the first check after it detects the silence.
    this.#timer = setInterval(() => {
      if (Date.now() - this.#last < withinMs) return;
      this.stop();
      silent();
    }, checkMs);
  }

  came(): void {
    this.#last = Date.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

export interface Connection {
  readonly state: 'connecting' | 'open' | 'retry' | 'closed';
  /** A sentence that says why the page is not connected; empty if it is connected. */
  readonly reason: string;
  readonly retryInMs: number | null;
}

/** Close code that the server sends to a page that stopped reading. The page may reconnect. */
const stoppedReading = 4408;

/** Close code of a server that cannot accept another page. */
const noRoom = 1013;
const noRoomWaitMs = 15_000;

/** Close code of a connection that ended without a close frame. */
const goneCode = 1006;

/**
 * Whether to reconnect after this close code, and a sentence that says why the socket was closed. The codes 1002, 1003,
 * 1008 and 4xxx (except stoppedReading) are final (RFC 6455, section 7.4).
 */
export function closeReason(code: number, text: string): { retry: boolean; reason: string } {
  if (code === stoppedReading) {
    return {
      retry: true,
      reason: t('This page stopped reading, so the server closed the connection.'),
    };
  }
  if (code === 1008) {
    return {
      retry: false,
      reason: text || t('The server refused this page after too many bad messages.'),
    };
  }
  if (code === 1002 || code === 1003 || code >= 4000) {
    return {
      retry: false,
      reason: text || t('This page and the server speak different protocols. Reload the page.'),
    };
  }
  if (code === 1001 || code === 1012)
    return { retry: true, reason: text || t('The server is shutting down.') };
  if (code === noRoom)
    return { retry: true, reason: text || t('The server has no room for another viewer now.') };
  return { retry: true, reason: text || t('The connection to the server broke.') };
}

/**
 * Delay before the page reconnects: 0.25 s, doubled at each attempt up to 8 s. If the server was full, the delay is 15
 * s. The random number `dice`, from 0 to 1, varies the delay by up to a quarter.
 */
export function backoffMs(attempt: number, dice: number, code = 1006): number {
  const wait = code === noRoom ? noRoomWaitMs : Math.min(8000, 250 * 2 ** Math.min(attempt, 10));
  return wait * (0.75 + dice / 2);
}

export interface SocketOptions {
  readonly url: string;
  readonly onMessage: (message: ServerMessage, tookMs: number) => void;
  readonly onConnection: (connection: Connection) => void;
  readonly onComplaint: (sentence: string) => void;
  /** Where to fetch segments; if absent, all messages arrive over the socket. */
  readonly segments?: SegmentSource | null;
  readonly makeSocket?: (url: string) => WebSocket;
  readonly makeDecoder?: (receive: (decoded: Decoded) => void) => Decoder;
  readonly random?: () => number;
}

export interface Socket {
  send(message: ClientMessage): void;
  close(): void;
}

type OpenMessage = Extract<ClientMessage, { type: 'open' }>;

/**
 * The page acknowledges messages after it has handled them, so that the server never gets far ahead of a slow page. The
 * server pauses after 1,024 messages without acknowledgement (stream/viewer.py). One acknowledgement covers many
 * messages, because reading it costs the server as much as sending a frame.
 */
const ackEvery = 128;

export function openSocket(options: SocketOptions): Socket {
  const make = options.makeSocket ?? ((url: string) => new WebSocket(url));
  const random = options.random ?? Math.random;
  let socket: WebSocket | null = null;
  let attempt = 0;
  let handled = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let closed = false;
  const silence = new SilenceTimer();
  let opened: OpenMessage | null = null;
  /** Messages to send once the page is connected. Only a person's commands are queued, so the queue stays short. */
  let waiting: ClientMessage[] = [];

  const decoder = (options.makeDecoder ?? createDecoder)((decoded) => {
    if (decoded.message === undefined) {
      options.onComplaint(
        t('A message from the server could not be read: {complaint}', {
          complaint: decoded.complaint,
        }),
      );
      return;
    }
    const { message } = decoded;
    handled += 1;
    if (handled % ackEvery === 0) transmit({ type: 'ack', n: handled });
    if (message.type === 'heartbeat') return;
    // After a reconnect, the page opens the live run to which the server moved it, not the run that it opened first.
    if (message.type === 'begun' && opened !== null)
      opened = asking({ type: 'open', lesson: opened.lesson, run: message.run_id });
    if (feed === null) options.onMessage(message, decoded.tookMs);
    else feed.take(message, decoded.tookMs);
  });
  const { segments } = options;
  const feed: SegmentFeed | null = segments
    ? new SegmentFeed({
        source: segments,
        decode: (bytes) => decoder.segment(bytes),
        deliver: options.onMessage,
        complain: options.onComplaint,
      })
    : null;

  /** Add to `open` whether this page fetches segments. */
  function asking(open: OpenMessage): OpenMessage {
    return feed === null ? open : { ...open, segments: true };
  }

  function transmit(message: ClientMessage): boolean {
    if (socket?.readyState !== 1) return false;
    socket.send(encode(message) as Uint8Array<ArrayBuffer>);
    return true;
  }

  function connect(): void {
    options.onConnection({ state: 'connecting', reason: '', retryInMs: null });
    const mine = make(options.url);
    mine.binaryType = 'arraybuffer';
    socket = mine;
    const ended = (code: number, text: string): void => {
      if (socket !== mine || closed) return;
      silence.stop();
      socket = null;
      lost(code, text);
    };
    const silent = (): void => {
      ended(goneCode, t('The server does not answer.'));
      mine.close();
    };
    silence.start(connectMs, silent);
    mine.onopen = () => {
      if (socket !== mine) return;
      silence.start(silentMs, silent);
      attempt = 0;
      handled = 0;
      options.onConnection({ state: 'open', reason: '', retryInMs: null });
      if (opened !== null) transmit(opened);
      const said = waiting;
      waiting = [];
      for (const message of said) transmit(message);
    };
    mine.onmessage = (event: MessageEvent<unknown>) => {
      if (socket !== mine) return;
      silence.came();
      if (event.data instanceof ArrayBuffer) decoder.decode(event.data);
      else options.onComplaint(t('The server sent text instead of bytes.'));
    };
    mine.onclose = (event) => ended(event.code, event.reason);
  }

  function lost(code: number, text: string): void {
    const { retry, reason } = closeReason(code, text);
    if (!retry) {
      options.onConnection({ state: 'closed', reason, retryInMs: null });
      return;
    }
    const wait = backoffMs(attempt, random(), code);
    attempt += 1;
    options.onConnection({ state: 'retry', reason, retryInMs: wait });
    timer = setTimeout(connect, wait);
  }

  connect();
  return {
    send(message) {
      if (message.type === 'open') {
        feed?.forget();
        opened = asking(message);
        transmit(opened);
      } else if (!transmit(message) && waiting.length < 8) waiting.push(message);
    },
    close() {
      closed = true;
      silence.stop();
      if (timer !== null) clearTimeout(timer);
      feed?.forget();
      socket?.close(1000);
      decoder.close();
      options.onConnection({ state: 'closed', reason: '', retryInMs: null });
    },
  };
}
