// SPDX-License-Identifier: GPL-2.0-or-later
/** From recorded accesses to one object (points `access`) to one stream per CPU. */

import { gather } from './merge.ts';
import { partOf, workOf } from './stated.ts';
import { type AccessStream, type MergedLog, mostCpus } from './types.ts';

export const lineBytes = 64;

/** Recorded accesses to one object, in the order in which they were executed. */
export interface RecordedAccesses {
  readonly length: number;
  readonly cpu: ArrayLike<number>;
  /** Bytes from the object's start. */
  readonly at: ArrayLike<number>;
  readonly size: ArrayLike<number>;
  readonly kind: ArrayLike<number>;
  /** Number of that CPU's operation, from 1; 0: outside of any. */
  readonly op: ArrayLike<number>;
  /** Index of the function that did it. */
  readonly func?: ArrayLike<number>;
}

export interface RecordedStreams {
  /** The CPUs' own numbers, rising; streams and log count CPUs from 0 in this order. */
  readonly cpus: readonly number[];
  readonly lines: number;
  readonly streams: readonly AccessStream[];
  /** Per CPU: which record an access of its stream is. An access over a line's end is two. */
  readonly source: readonly Uint32Array[];
  /** The order in which the machine happened to run them: that is the host's, and says nothing of hardware. */
  readonly executed: MergedLog;
}

export interface RecordedOptions {
  /** Records that count; the rest is left out. */
  readonly upTo?: number;
  /** Bytes of the object's start behind the beginning of a line. */
  readonly offset?: number;
  /** Names of the functions. With them private work lies where it was counted (stated.ts), else it is spread evenly. */
  readonly functions?: readonly string[];
}

/** Streams of recorded accesses. */
export function recordedStreams(
  recorded: RecordedAccesses,
  { upTo = recorded.length, offset = 0, functions }: RecordedOptions = {},
): RecordedStreams {
  const n = Math.min(upTo, recorded.length);
  const cpus = [...new Set(Array.from({ length: n }, (_, i) => recorded.cpu[i]!))];
  cpus.sort((a, b) => a - b);
  if (cpus.length > mostCpus) throw new RangeError(`at most ${mostCpus} CPUs can meet`);
  const rank = new Map(cpus.map((cpu, c) => [cpu, c]));
  const rows: Row[] = cpus.map(() => ({ line: [], source: [] }));
  const order: number[] = [];
  let lines = 0;
  for (let i = 0; i < n; i++) {
    const c = rank.get(recorded.cpu[i]!)!;
    const row = rows[c]!;
    const at = recorded.at[i]! + offset;
    const last = Math.floor((at + Math.max(1, recorded.size[i]!) - 1) / lineBytes);
    for (let line = Math.floor(at / lineBytes); line <= last; line++) {
      row.line.push(line);
      row.source.push(i);
      order.push(c);
    }
    lines = Math.max(lines, last + 1);
  }
  const streams = rows.map((row) => streamOf(row, recorded, functions));
  return {
    cpus,
    lines,
    streams,
    source: rows.map((row) => Uint32Array.from(row.source)),
    executed: gather(streams, lines, Uint8Array.from(order), null),
  };
}

interface Row {
  readonly line: number[];
  readonly source: number[];
}

function streamOf(
  { line, source }: Row,
  recorded: RecordedAccesses,
  functions?: readonly string[],
): AccessStream {
  const op = Uint32Array.from(source, (i) => recorded.op[i]!);
  const work = new Float64Array(op.length);
  for (let begin = 0; begin < op.length; ) {
    let end = begin + 1;
    while (end < op.length && op[end] === op[begin]) end++;
    if (op[begin] !== 0) {
      const weights =
        functions !== undefined && recorded.func !== undefined
          ? workOf(source.slice(begin, end).map((i) => functions[recorded.func![i]!] ?? ''))
          : new Array<number>(end - begin).fill(1);
      const sum = weights.reduce((a, b) => a + b, 0);
      for (let i = begin; i < end; i++) work[i] = weights[i - begin]! / sum;
    }
    begin = end;
  }
  return {
    line: Uint8Array.from(line),
    kind: Uint8Array.from(source, (i) => recorded.kind[i]!),
    op,
    work,
    part: Uint8Array.from(source, (i) => partOf(functions?.[recorded.func?.[i] ?? -1] ?? '')),
  };
}
