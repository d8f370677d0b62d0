// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Decodes the messages of a socket in a worker. Without workers, as in tests, this thread decodes them. Messages keep
 * their order.
 */

import { decodeMessage, frames } from './decode.ts';
import type { ServerMessage } from './messages.ts';

export type Decoded =
  | { readonly message: ServerMessage; readonly tookMs: number; readonly complaint?: undefined }
  | { readonly complaint: string; readonly message?: undefined };

/** A request to the worker to decode a complete segment, and the worker's reply. */
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

/** Decode one message. If it is invalid, the result contains the error. */
export function decoded(bytes: Uint8Array): Decoded {
  const began = performance.now();
  try {
    return { message: decodeMessage(bytes), tookMs: performance.now() - began };
  } catch (cause) {
    return { complaint: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** Decode the messages of an uncompressed segment. If the segment is invalid, the result is a single error. */
export function segmentMessages(bytes: ArrayBuffer): readonly Decoded[] {
  try {
    return frames(bytes).map(decoded);
  } catch (cause) {
    return [{ complaint: cause instanceof Error ? cause.message : String(cause) }];
  }
}

/** Create a decoder that works synchronously on the caller's thread. */
export function directDecoder(receive: (decoded: Decoded) => void): Decoder {
  return {
    decode: (bytes) => receive(decoded(new Uint8Array(bytes))),
    segment: async (bytes) => segmentMessages(bytes),
    close() {},
  };
}

/** Create a decoder that uses a worker, or this thread if the browser refuses to start a worker. */
export function createDecoder(receive: (decoded: Decoded) => void): Decoder {
  if (typeof Worker === 'undefined') return directDecoder(receive);
  let worker: Worker;
  try {
    worker = new Worker(new URL('./decoder.worker.ts', import.meta.url), { type: 'module' });
  } catch {
    return directDecoder(receive); // Browsers can refuse workers to a page that was opened from a file.
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
