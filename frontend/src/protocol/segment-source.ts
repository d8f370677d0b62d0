// SPDX-License-Identifier: GPL-2.0-or-later
/** Segments by HTTP, below the page's own address. The browser unpacks them, and keeps them: they never change. */

import { check } from './check.ts';
import { readServerMessage } from './contract.checks.gen.ts';
import { Gone, type SegmentSource } from './segments.ts';

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
