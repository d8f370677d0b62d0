// SPDX-License-Identifier: GPL-2.0-or-later
/** Decodes off the main thread: bytes in, message or complaint out. Keeps no state. */

import { decodeMessage, transferables } from './decode.ts';
import type { Decoded } from './decoder.ts';

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<ArrayBuffer>) => void) | null;
  postMessage(value: Decoded, transfer: ArrayBuffer[]): void;
};

scope.onmessage = (event) => {
  const began = performance.now();
  try {
    const message = decodeMessage(new Uint8Array(event.data));
    scope.postMessage({ message, tookMs: performance.now() - began }, transferables(message));
  } catch (cause) {
    scope.postMessage({ complaint: cause instanceof Error ? cause.message : String(cause) }, []);
  }
};
