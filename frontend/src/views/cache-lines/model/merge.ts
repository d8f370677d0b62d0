// SPDX-License-Identifier: GPL-2.0-or-later
/** Streams of accesses merged in a given order. */

import type { AccessStream, MergedLog, Spent } from './types.ts';

/** The merged log of an order, given as the CPU whose turn it is. */
export function gather(
  streams: readonly AccessStream[],
  lines: number,
  cpu: Uint8Array,
  endNs: number | null,
  spent: Spent | null = null,
): MergedLog {
  const length = cpu.length;
  const next = new Uint32Array(streams.length);
  const index = new Uint32Array(length);
  const line = new Uint8Array(length);
  const kind = new Uint8Array(length);
  let ops = 0;
  for (let k = 0; k < length; k++) {
    const c = cpu[k]!;
    const stream = streams[c]!;
    const i = next[c]!;
    next[c] = i + 1;
    index[k] = i;
    line[k] = stream.line[i]!;
    kind[k] = stream.kind[i]!;
    if (endsOperation(stream, i)) ops++;
  }
  return { cpus: streams.length, lines, length, cpu, index, line, kind, ops, endNs, spent };
}

/** One more than the highest line of the streams. */
export function linesOf(streams: readonly AccessStream[]): number {
  let most = 0;
  for (const stream of new Set(streams)) {
    for (const line of stream.line) if (line >= most) most = line + 1;
  }
  return most;
}

/** Whether access i is the last one of an operation. */
export function endsOperation(stream: AccessStream, i: number): boolean {
  return stream.op[i] !== 0 && stream.op[i + 1] !== stream.op[i];
}

/** Whether access i is the first one of an operation. */
export function beginsOperation(stream: AccessStream, i: number): boolean {
  return stream.op[i] !== 0 && stream.op[i - 1] !== stream.op[i];
}
