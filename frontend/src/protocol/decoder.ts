// SPDX-License-Identifier: GPL-2.0-or-later
/** The decoder of a socket: a worker where there is one, this thread where there is none (tests). Order is kept. */

import { decodeMessage } from './decode.ts';
import type { ServerMessage } from './messages.ts';

export type Decoded =
  | { readonly message: ServerMessage; readonly tookMs: number; readonly complaint?: undefined }
  | { readonly complaint: string; readonly message?: undefined };

export interface Decoder {
  decode(bytes: ArrayBuffer): void;
  close(): void;
}

/** Decodes at once, on the caller's thread. */
export function directDecoder(receive: (decoded: Decoded) => void): Decoder {
  return {
    decode(bytes) {
      const began = performance.now();
      let decoded: Decoded;
      try {
        const message = decodeMessage(new Uint8Array(bytes));
        decoded = { message, tookMs: performance.now() - began };
      } catch (cause) {
        decoded = { complaint: cause instanceof Error ? cause.message : String(cause) };
      }
      receive(decoded);
    },
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
  worker.onmessage = (event: MessageEvent<Decoded>) => receive(event.data);
  return {
    decode: (bytes) => worker.postMessage(bytes, [bytes]),
    close: () => worker.terminate(),
  };
}
