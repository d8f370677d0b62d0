// SPDX-License-Identifier: GPL-2.0-or-later
/** Connects to the server while the page's code is still loading. Called by src/early-start.ts. */

import type { ClientMessage } from './messages.ts';
import { encode } from './msgpack.ts';

/** Whether the browser can fetch segments (since 2024). Otherwise, the server sends runs over the socket. */
export function fetchesSegments(): boolean {
  return typeof AbortSignal.any === 'function';
}

/**
 * Return the socket's address. Its path is relative to the page's own path, so that the page also works behind a proxy.
 */
export function socketUrl(place: Pick<Location, 'href'>): string {
  const url = new URL('ws', place.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/**
 * A socket whose messages wait until the page takes it. It implements the parts of WebSocket that openSocket uses.
 * Later the page itself asks for the lesson. If its message equals the message that was sent early, it is not sent
 * again.
 */
export class EarlySocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly #socket: WebSocket;
  #asked: Uint8Array | null;
  #held: unknown[] = [];
  #taken = false;

  constructor(socket: WebSocket, asked: ClientMessage | null) {
    this.#socket = socket;
    this.#asked = asked === null ? null : encode(asked);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.#asked !== null) socket.send(this.#asked as Uint8Array<ArrayBuffer>);
      if (this.#taken) this.onopen?.();
    };
    socket.onmessage = ({ data }) => {
      if (this.#taken) this.onmessage?.({ data });
      else this.#held.push(data);
    };
    socket.onclose = ({ code, reason }) => this.onclose?.({ code, reason });
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  /** Deliver the messages that have arrived so far, but only after the caller has set its handlers. */
  take(): this {
    setTimeout(() => {
      this.#taken = true;
      if (this.readyState !== WebSocket.OPEN) return;
      this.onopen?.();
      const held = this.#held;
      this.#held = [];
      for (const data of held) this.onmessage?.({ data });
    });
    return this;
  }

  send(bytes: Uint8Array<ArrayBuffer>): void {
    const asked = this.#asked;
    this.#asked = null;
    if (asked?.length === bytes.length && asked.every((byte, i) => byte === bytes[i])) return;
    this.#socket.send(bytes);
  }

  close(code?: number): void {
    this.#socket.close(code);
  }
}

let early: EarlySocket | null = null;

/**
 * Connect to the server of a page.
 *
 * @param opening the page's first message, if it is known
 */
export function connectEarly(page: Pick<Location, 'href'>, opening: ClientMessage | null): void {
  try {
    early = new EarlySocket(new WebSocket(socketUrl(page)), opening);
  } catch {
    early = null; // The page will connect again, and report the error.
  }
}

/** Return the early socket in the first call, if that socket is still open; otherwise return a new socket. */
export function takeSocket(url: string): WebSocket {
  const found = early;
  early = null;
  if (found === null || found.readyState > WebSocket.OPEN) return new WebSocket(url);
  return found.take() as unknown as WebSocket;
}
