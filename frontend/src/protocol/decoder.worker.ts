// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A worker that decodes messages outside the main thread. For one message, it returns the decoded message or an error.
 * For a segment, it returns all of the segment's messages. The worker keeps no state.
 */

import { transferables } from './decode.ts';
import {
  type Decoded,
  decoded,
  type SegmentReply,
  type SegmentRequest,
  segmentMessages,
} from './decoder.ts';

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<ArrayBuffer | SegmentRequest>) => void) | null;
  postMessage(value: Decoded | SegmentReply, transfer: ArrayBuffer[]): void;
};

const memoryOf = (one: Decoded) => (one.message === undefined ? [] : transferables(one.message));

scope.onmessage = ({ data }) => {
  if (data instanceof ArrayBuffer) {
    const one = decoded(new Uint8Array(data));
    scope.postMessage(one, memoryOf(one));
  } else {
    const messages = segmentMessages(data.segment);
    scope.postMessage({ id: data.id, messages }, messages.flatMap(memoryOf));
  }
};
