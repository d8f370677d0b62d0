// SPDX-License-Identifier: GPL-2.0-or-later
/** Streams of accesses. Recorded streams are repeated until their number and length suffice for a run of the model. */

import {
  type AccessStream,
  type MergedLog,
  modifies,
  mostCpus,
  reads,
  type Spent,
} from './coherence.ts';
import { partOf, workOf } from './stated.ts';

// Merges streams of accesses in a given order.

/** Return the merged log of an order. The order is a sequence of CPUs. */
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

/** Return one more than the highest line number in the streams. */
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
function beginsOperation(stream: AccessStream, i: number): boolean {
  return stream.op[i] !== 0 && stream.op[i - 1] !== stream.op[i];
}

// Converts recorded accesses to one object (points `access`) to one stream per CPU.

const lineBytes = 64;

/** The recorded accesses to one object, in the order in which they were executed. */
interface RecordedAccesses {
  readonly length: number;
  readonly cpu: ArrayLike<number>;
  /** Offset from the object's start, in bytes. */
  readonly at: ArrayLike<number>;
  readonly size: ArrayLike<number>;
  readonly kind: ArrayLike<number>;
  /** Number of the CPU's operation, counted from 1; 0 for accesses outside operations. */
  readonly op: ArrayLike<number>;
  /** Index of the function that made the access. */
  readonly func?: ArrayLike<number>;
}

interface RecordedStreams {
  /** Recorded numbers of the CPUs, ascending. The streams and the log number the CPUs from 0 in this order. */
  readonly cpus: readonly number[];
  readonly lines: number;
  readonly streams: readonly AccessStream[];
  /**
   * For each access of each CPU's stream, the index of its record. A record that crosses the end of a line becomes two
   * accesses.
   */
  readonly source: readonly Uint32Array[];
  /** The order in which the host ran the accesses, which says nothing about hardware. */
  readonly executed: MergedLog;
}

interface RecordedOptions {
  /** Number of records that are used. Later records are left out. */
  readonly upTo?: number;
  /** Offset of the object's start from the beginning of the object's first line, in bytes. */
  readonly offset?: number;
  /**
   * Names of the functions. With names, private work is distributed as it was counted (stated.ts). Without names, it is
   * distributed evenly.
   */
  readonly functions?: readonly string[];
}

/** Return the streams of recorded accesses. */
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

/** Return a new stream that has only the accesses at these indexes, in this order. */
export function picked(stream: AccessStream, at: readonly number[]): AccessStream {
  return {
    line: Uint8Array.from(at, (i) => stream.line[i]!),
    kind: Uint8Array.from(at, (i) => stream.kind[i]!),
    op: Uint32Array.from(at, (i) => stream.op[i]!),
    work: Float64Array.from(at, (i) => stream.work[i]!),
    part: Uint8Array.from(at, (i) => stream.part[i]!),
  };
}

/**
 * Return only the complete operations of a recorded stream, so that they can be repeated. The first and the last
 * operation are left out, because the recording may have cut them. Accesses outside operations are left out, too.
 */
export function wholeOperations(stream: AccessStream): AccessStream {
  const { op } = stream;
  const inside = Array.from(op.keys()).filter((i) => op[i] !== 0);
  const first = op[inside[0] ?? 0];
  const last = op[inside.at(-1) ?? 0];
  return picked(
    stream,
    inside.filter((i) => op[i] !== first && op[i] !== last),
  );
}

/**
 * Return a stream with exactly this number of operations: the first operations of the given stream, repeated if there
 * are too few.
 */
export function repeated(stream: AccessStream, ops: number): AccessStream {
  const begins: number[] = [];
  for (let i = 0; i < stream.op.length; i++) {
    if (beginsOperation(stream, i)) begins.push(i);
  }
  if (begins.length === 0) throw new RangeError('a stream without an operation cannot be repeated');
  const whole = begins.length;
  begins.push(stream.op.length);
  const at: number[] = [];
  const op: number[] = [];
  for (let n = 0; n < ops; n++) {
    for (let i = begins[n % whole]!; i < begins[(n % whole) + 1]!; i++) {
      at.push(i);
      op.push(n + 1);
    }
  }
  return { ...picked(stream, at), op: Uint32Array.from(op) };
}

/** Return one stream for each CPU, with this number of operations. The given streams are used in turn. */
export function spreadOver(
  streams: readonly AccessStream[],
  cpus: number,
  ops: number,
): AccessStream[] {
  if (!Number.isInteger(cpus) || cpus < 1 || cpus > mostCpus) {
    throw new RangeError(`CPUs must be a whole number from 1 to ${mostCpus}, but ${cpus} came`);
  }
  const long = streams.slice(0, cpus).map((s) => repeated(s, ops));
  return Array.from({ length: cpus }, (_, c) => long[c % long.length]!);
}

/**
 * Return the stream for a machine whose loads immediately ask for ownership. A read counts as a read-modify-write if
 * the next access of its operation is a read-modify-write of the same line. This rule is the model's default, because
 * the mail's profile supports it. Under the other rule, a read only asks to read.
 */
export function owningLoads(stream: AccessStream): AccessStream {
  const kind = stream.kind.slice();
  for (let i = 0; i + 1 < kind.length; i++) {
    const same = stream.line[i] === stream.line[i + 1] && stream.op[i] === stream.op[i + 1];
    if (same && kind[i] === reads && kind[i + 1] === modifies) kind[i] = modifies;
  }
  return { ...stream, kind };
}

/** Return the requests of the CPUs: the counted streams, or these streams with loads that ask to own their line. */
export function askedFor(
  streams: readonly AccessStream[],
  owning: boolean,
): readonly AccessStream[] {
  return owning ? streams.map(owningLoads) : streams;
}
