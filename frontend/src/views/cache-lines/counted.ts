// SPDX-License-Identifier: GPL-2.0-or-later
/** What the microscope counted of the dentry, exactly: by line, by field and by function, for each stat. */

import type { LaneIndex, LaneSample } from '../../derive/types.ts';
import { isNameRead, lineBytes, type Struct, structOf } from './fields.ts';
import { endsOperation } from './model/merge.ts';
import { type Counted, countedOf } from './streams.ts';

/** Accesses of a stat by class. */
export interface Sum {
  readonly reads: number;
  readonly writes: number;
  readonly rmws: number;
}

/** Accesses of one function to one field, per stat. */
export interface Cell extends Sum {
  readonly field: string;
  readonly at: number;
  readonly func: string;
}

/** One of the busiest lines, per stat. */
export interface BusyLine extends Sum {
  /** Low 48 bits. */
  readonly address: number;
  /** Of the dentry; -1: elsewhere. */
  readonly line: number;
  /** What is written most in it, or else read most; '' where it is not known. */
  readonly field: string;
  readonly vcpus: number;
}

export interface Totals {
  /** Stats that touched the dentry. */
  readonly stats: number;
  /** Accesses inside stats, per stat, by line. */
  readonly lines: readonly Sum[];
  /** The line of the count; all 0 while it is not known. */
  readonly lock: Sum;
  /** Reads of that line that compare the name. */
  readonly nameReads: number;
  readonly cells: readonly Cell[];
  /** The dentry's lines and the busiest others: first those that several vCPUs touch and one writes, by writes. */
  readonly busiest: readonly BusyLine[];
  /** Log records that had no room, and accesses after the log was used up. */
  readonly lost: number;
  readonly over: number;
  /** false: the totals were not read yet, and these are sums of the accesses that were told one by one. */
  readonly exact: boolean;
}

interface Kept {
  readonly of: LaneSample | Counted;
  readonly struct: Struct | null;
  readonly totals: Totals | null;
}

const kept = new WeakMap<LaneIndex, Kept>();

/** null: nothing was counted yet. */
export function totalsOf(lane: LaneIndex): Totals | null {
  const sample = lane.samples('microscope').at(-1);
  const struct = structOf(lane);
  const of = sample ?? countedOf(lane);
  const known = kept.get(lane);
  if (known?.of === of && known.struct === struct) return known.totals;
  const totals = (sample && fromSample(sample, struct)) ?? fromPoints(lane, struct);
  kept.set(lane, { of, struct, totals });
  return totals;
}

const nothing: Sum = { reads: 0, writes: 0, rmws: 0 };

/** Collects accesses by line, and by field and function. */
class Tally {
  readonly #struct: Struct | null;
  readonly #lines: { reads: number; writes: number; rmws: number }[] = [];
  readonly #cells = new Map<string, Cell & { reads: number; writes: number; rmws: number }>();
  #nameReads = 0;

  constructor(struct: Struct | null) {
    this.#struct = struct;
  }

  add(at: number, func: string, sum: Sum): void {
    const struct = this.#struct;
    const line = Math.floor(at / lineBytes);
    while (this.#lines.length <= line) this.#lines.push({ ...nothing });
    addTo(this.#lines[line]!, sum);
    const field = struct?.fields[struct.fieldAt[at] ?? -1];
    const name = field?.name ?? `byte ${at}`;
    const key = `${line} ${name} ${func}`;
    const cell = this.#cells.get(key) ?? { field: name, at, func, ...nothing };
    addTo(cell, sum);
    this.#cells.set(key, cell);
    if (line === struct?.lockLine && isNameRead(struct, at, false)) this.#nameReads += sum.reads;
  }

  /** All per stat. */
  over(stats: number): Pick<Totals, 'stats' | 'lines' | 'lock' | 'nameReads' | 'cells'> {
    const per = (sum: Sum): Sum => ({
      reads: sum.reads / stats,
      writes: sum.writes / stats,
      rmws: sum.rmws / stats,
    });
    const lines = this.#lines.map(per);
    const cells = [...this.#cells.values()].map((cell) => ({ ...cell, ...per(cell) }));
    return {
      stats,
      lines,
      lock: lines[this.#struct?.lockLine ?? -1] ?? nothing,
      nameReads: this.#nameReads / stats,
      cells: cells.sort((a, b) => a.at - b.at || a.func.localeCompare(b.func)),
    };
  }
}

function addTo(to: { reads: number; writes: number; rmws: number }, sum: Sum): void {
  to.reads += sum.reads;
  to.writes += sum.writes;
  to.rmws += sum.rmws;
}

function fromSample(sample: LaneSample, struct: Struct | null): Totals | null {
  const { columns, facts, texts, n } = sample;
  const stats = facts['ops_touching'] ?? 0;
  if (stats === 0) return null;
  const tally = new Tally(struct);
  const lines = new Map<string, Busy>();
  const number = (name: string, i: number) => Number(columns[name]?.[i] ?? 0);
  for (let i = 0; i < n; i++) {
    const sum = { reads: number('reads', i), writes: number('writes', i), rmws: number('rmws', i) };
    const at = number('at', i);
    if (at >= 0 && number('inside', i) !== 1) continue;
    if (at >= 0) tally.add(at, texts[number('function', i)] ?? '?', sum);
    addBusy(lines, { at, address: number('address', i), cpus: number('cpus', i), sum });
  }
  const [lost, over] = [facts['lost'] ?? 0, facts['over'] ?? 0];
  const own = tally.over(stats);
  return { ...own, busiest: ranked(lines, own.cells, stats), lost, over, exact: true };
}

interface Busy {
  readonly address: number;
  readonly line: number;
  cpus: number;
  readonly sum: { reads: number; writes: number; rmws: number };
}

function addBusy(
  lines: Map<string, Busy>,
  { at, address, cpus, sum }: Pick<Busy, 'address' | 'cpus' | 'sum'> & { readonly at: number },
): void {
  const line = at < 0 ? -1 : Math.floor(at / lineBytes);
  const key = line < 0 ? `at ${address}` : `line ${line}`;
  const busy = lines.get(key) ?? { address, line, cpus: 0, sum: { ...nothing } };
  busy.cpus |= cpus;
  addTo(busy.sum, sum);
  lines.set(key, busy);
}

/** Low 48 bits of the vmalloc area of x86-64, where stacks lie: Documentation/x86/x86_64/mm.rst, Linux 6.1. */
const vmalloc = [0xc90000000000, 0xe90000000000] as const;

/** A stack belongs to a task, which may move from CPU to CPU; its line is nobody else's. */
export function isStack({ address, line }: Pick<BusyLine, 'address' | 'line'>): boolean {
  return line < 0 && address >= vmalloc[0] && address < vmalloc[1];
}

function ranked(
  lines: ReadonlyMap<string, Busy>,
  cells: readonly Cell[],
  stats: number,
): BusyLine[] {
  const all = [...lines.values()].map(({ address, line, cpus, sum }): BusyLine => {
    const own = cells.filter((cell) => Math.floor(cell.at / lineBytes) === line);
    const [first] = own.sort((a, b) => b.rmws - a.rmws || b.writes - a.writes || b.reads - a.reads);
    const per = { reads: sum.reads / stats, writes: sum.writes / stats, rmws: sum.rmws / stats };
    const field = line < 0 ? '' : (first?.field ?? '');
    return { address, line, field, vcpus: bits(cpus), ...per };
  });
  const written = ({ writes, rmws }: Sum) => writes + rmws;
  const apart = (one: BusyLine) => !(one.vcpus > 1 && written(one) > 0) || isStack(one);
  return all.sort(
    (a, b) =>
      Number(apart(a)) - Number(apart(b)) ||
      Number(isStack(a)) - Number(isStack(b)) ||
      written(b) - written(a) ||
      b.reads - a.reads,
  );
}

function bits(mask: number): number {
  let n = 0;
  for (let rest = mask >>> 0; rest > 0; rest = Math.floor(rest / 2)) n += rest % 2;
  return n;
}

function fromPoints(lane: LaneIndex, struct: Struct | null): Totals | null {
  const { streams, source } = countedOf(lane);
  let stats = 0;
  const tally = new Tally(struct);
  for (const [s, stream] of streams.entries()) {
    for (let i = 0; i < stream.op.length; i++) {
      const [at, kind] = [lane.points.a[source[s]![i]!]!, stream.kind[i]!];
      const func = `function ${lane.points.d[source[s]![i]!]}`;
      tally.add(at, func, {
        reads: kind === 0 ? 1 : 0,
        writes: kind === 1 ? 1 : 0,
        rmws: kind === 2 ? 1 : 0,
      });
      if (endsOperation(stream, i)) stats += 1;
    }
  }
  if (stats === 0) return null;
  return { ...tally.over(stats), busiest: [], lost: 0, over: 0, exact: false };
}

/** Names of the functions, as the microscope has them; the lesson's order. */
export function functionName(lane: LaneIndex, func: number): string {
  return lane.samples('microscope').at(-1)?.texts[func] ?? '';
}

export function all({ reads, writes, rmws }: Sum): number {
  return reads + writes + rmws;
}
