// SPDX-License-Identifier: GPL-2.0-or-later
/** The decoder of a socket: a worker where there is one, this thread where there is none (tests). Order is kept. */

import { decodeMessage, frames } from './decode.ts';
import type { ServerMessage } from './messages.ts';

export type Decoded =
  | { readonly message: ServerMessage; readonly tookMs: number; readonly complaint?: undefined }
  | { readonly complaint: string; readonly message?: undefined };

/** What a worker is asked besides single messages, and what it answers. */
export interface SegmentRequest {
  readonly id: number;
  readonly segment: ArrayBuffer;
}
export interface SegmentReply {
  readonly id: number;
  readonly messages: readonly Decoded[];
}

export interface Decoder {
  decode(bytes: ArrayBuffer): void;
  /** All messages of an unpacked segment. */
  segment(bytes: ArrayBuffer): Promise<readonly Decoded[]>;
  close(): void;
}

/** One message, or why it is none. */
export function decoded(bytes: Uint8Array): Decoded {
  const began = performance.now();
  try {
    return { message: decodeMessage(bytes), tookMs: performance.now() - began };
  } catch (cause) {
    return { complaint: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** The messages of an unpacked segment; one complaint if it is none. */
export function segmentMessages(bytes: ArrayBuffer): readonly Decoded[] {
  try {
    return frames(bytes).map(decoded);
  } catch (cause) {
    return [{ complaint: cause instanceof Error ? cause.message : String(cause) }];
  }
}

/** Decodes at once, on the caller's thread. */
export function directDecoder(receive: (decoded: Decoded) => void): Decoder {
  return {
    decode: (bytes) => receive(decoded(new Uint8Array(bytes))),
    segment: async (bytes) => segmentMessages(bytes),
    close() {},
  };
}

/** Decodes in a worker; a browser that refuses workers gets the direct one. */
export function createDecoder(receive: (decoded: Decoded) => void): Decoder {
  if (typeof Worker === 'undefined') return directDecoder(receive);
  let worker: Worker;
  try {
    worker = new Worker(new URL('./decoder.worker.ts', import.meta.url), { type: 'module' });
  } catch {
    return directDecoder(receive); // A page opened as a file may not start one.
  }
  const asked = new Map<number, (messages: readonly Decoded[]) => void>();
  let count = 0;
  worker.onmessage = (event: MessageEvent<Decoded | SegmentReply>) => {
    if (!('id' in event.data)) return receive(event.data);
    const { id, messages } = event.data;
    asked.get(id)?.(messages);
    asked.delete(id);
  };
  return {
    decode: (bytes) => worker.postMessage(bytes, [bytes]),
    segment: (bytes) =>
      new Promise((answer) => {
        count += 1;
        asked.set(count, answer);
        worker.postMessage({ id: count, segment: bytes } satisfies SegmentRequest, [bytes]);
      }),
    close: () => worker.terminate(),
  };
}
