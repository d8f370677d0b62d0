// SPDX-License-Identifier: GPL-2.0-or-later
/** Decoder of a socket: a worker, or this thread where workers are missing (tests). Keeps the order of messages. */

import { decodeMessage, frames } from './decode.ts';
import type { ServerMessage } from './messages.ts';

export type Decoded =
  | { readonly message: ServerMessage; readonly tookMs: number; readonly complaint?: undefined }
  | { readonly complaint: string; readonly message?: undefined };

/** Requests to the worker for a whole segment, and its replies. */
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
  /** Decode all messages of an uncompressed segment. */
  segment(bytes: ArrayBuffer): Promise<readonly Decoded[]>;
  close(): void;
}

/** Decode one message; on failure return the error. */
export function decoded(bytes: Uint8Array): Decoded {
  const began = performance.now();
  try {
    return { message: decodeMessage(bytes), tookMs: performance.now() - began };
  } catch (cause) {
    return { complaint: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** Decode the messages of an uncompressed segment; a single error if it is invalid. */
export function segmentMessages(bytes: ArrayBuffer): readonly Decoded[] {
  try {
    return frames(bytes).map(decoded);
  } catch (cause) {
    return [{ complaint: cause instanceof Error ? cause.message : String(cause) }];
  }
}

/** Decodes synchronously on the caller's thread. */
export function directDecoder(receive: (decoded: Decoded) => void): Decoder {
  return {
    decode: (bytes) => receive(decoded(new Uint8Array(bytes))),
    segment: async (bytes) => segmentMessages(bytes),
    close() {},
  };
}

/** Decodes in a worker; falls back to this thread if the browser refuses workers. */
export function createDecoder(receive: (decoded: Decoded) => void): Decoder {
  if (typeof Worker === 'undefined') return directDecoder(receive);
  let worker: Worker;
  try {
    worker = new Worker(new URL('./decoder.worker.ts', import.meta.url), { type: 'module' });
  } catch {
    return directDecoder(receive); // A page opened from a file may not start a worker.
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
