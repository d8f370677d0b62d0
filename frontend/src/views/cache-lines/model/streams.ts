// SPDX-License-Identifier: GPL-2.0-or-later
/** Streams of accesses: recorded ones, and as many and as long ones as a model run wants. */

import { beginsOperation } from './merge.ts';
import { type AccessStream, modifies, mostCpus, reads } from './types.ts';

export { beginsOperation, endsOperation } from './merge.ts';
export * from './recorded.ts';

/** The accesses of a stream that are named, in that order. */
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
 * Only whole operations of a recorded stream: its first and its last one may have been cut by the recording, and what
 * lies outside of any is left out. So a stream can be repeated.
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

/** A stream with so many operations: the given ones again and again, or the first of them. */
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

/** Streams for so many CPUs: the given ones in turn, each with so many operations. */
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
 * The same stream on a machine that would ask for ownership at once: a read whose next access in the operation is a
 * read-modify-write of the same line counts as a write. The model's default, since the profile of the mail says so; the
 * other rule is that a read asks to read.
 */
export function owningLoads(stream: AccessStream): AccessStream {
  const kind = stream.kind.slice();
  for (let i = 0; i + 1 < kind.length; i++) {
    const same = stream.line[i] === stream.line[i + 1] && stream.op[i] === stream.op[i + 1];
    if (same && kind[i] === reads && kind[i + 1] === modifies) kind[i] = modifies;
  }
  return { ...stream, kind };
}

/** What the CPUs ask for: the streams as they were counted, or with loads that own. */
export function askedFor(
  streams: readonly AccessStream[],
  owning: boolean,
): readonly AccessStream[] {
  return owning ? streams.map(owningLoads) : streams;
}
