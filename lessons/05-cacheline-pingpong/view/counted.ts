// SPDX-License-Identifier: GPL-2.0-or-later
/** The microscope's exact counts for the object, per operation: by line, by field, and by function. */

import { t } from '@page/base/lang/t.ts';
import { formatCount, formatFigure } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import type { LaneIndex, LaneSample } from '@page/derive/types.ts';
import { list } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import {
  countsOf,
  fieldWords,
  isInside,
  isNameRead,
  isOwn,
  lineBytes,
  placeOf,
  type Struct,
  structOf,
} from './fields.ts';
import { endsOperation } from './model/streams.ts';
import { type Counted, countedOf, transfersPerStat } from './model.ts';
import type { LaneNow } from './now.ts';

/** Accesses per operation, by class. */
export interface Sum {
  readonly reads: number;
  readonly writes: number;
  readonly rmws: number;
}

/** Accesses of one function to one field, per operation. */
export interface Cell extends Sum {
  readonly field: string;
  readonly at: number;
  readonly func: string;
}

/** One of the busiest lines, with its accesses per operation. */
export interface BusyLine extends Sum {
  /** Low 48 bits of the line's address. */
  readonly address: number;
  /** Number of the object's line; -1 if the line is outside the object. */
  readonly line: number;
  /** The most written field of this line, or its most read field if no field is written; '' if not known. */
  readonly field: string;
  readonly vcpus: number;
}

export interface Totals {
  /** Number of operations that accessed the object. */
  readonly ops: number;
  /** For each line, the accesses per operation. Accesses outside operations are left out. */
  readonly lines: readonly Sum[];
  /** Accesses to the most written line; null if no line is written, or the line is not known. */
  readonly hot: Sum | null;
  /** Reads of the most written line that compare the name, per operation; null if the object has no name. */
  readonly nameReads: number | null;
  readonly cells: readonly Cell[];
  /**
   * The object's lines and the busiest other lines, sorted by number of writes. Lines that several vCPUs access, and at
   * least one vCPU writes, come first.
   */
  readonly busiest: readonly BusyLine[];
  /** `lost`: number of records that did not fit in the log. `over`: number of accesses after the log was full. */
  readonly lost: number;
  readonly over: number;
  /**
   * Whether the figures come from the microscope's exact totals. Otherwise they are sums of the individually reported
   * accesses.
   */
  readonly exact: boolean;
}

interface Cached {
  readonly of: LaneSample['columns'] | Counted;
  readonly struct: Struct | null;
  readonly totals: Totals | null;
}

const cache = new WeakMap<LaneIndex, Cached>();

/** Return null as long as no access has been counted. */
export function totalsOf(lane: LaneIndex): Totals | null {
  const sample = countsOf(lane);
  const struct = structOf(lane);
  const of = sample?.columns ?? countedOf(lane);
  const known = cache.get(lane);
  if (known?.of === of && known.struct === struct) return known.totals;
  const totals = (sample && fromSample(sample, struct)) ?? fromPoints(lane, struct);
  cache.set(lane, { of, struct, totals });
  return totals;
}

const nothing: Sum = { reads: 0, writes: 0, rmws: 0 };

/** Sums of accesses by line, and by field and function. */
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
    const name = field?.name ?? fieldWords(struct, at, 1);
    const key = `${line} ${name} ${func}`;
    const cell = this.#cells.get(key) ?? { field: name, at, func, ...nothing };
    addTo(cell, sum);
    this.#cells.set(key, cell);
    if (line === struct?.hot?.line && isNameRead(struct, at, false)) this.#nameReads += sum.reads;
  }

  /** Return all counts per operation. */
  over(ops: number): Pick<Totals, 'ops' | 'lines' | 'hot' | 'nameReads' | 'cells'> {
    const per = (sum: Sum): Sum => ({
      reads: sum.reads / ops,
      writes: sum.writes / ops,
      rmws: sum.rmws / ops,
    });
    const lines = this.#lines.map(per);
    const cells = [...this.#cells.values()].map((cell) => ({ ...cell, ...per(cell) }));
    return {
      ops,
      lines,
      hot: this.#struct?.hot ? (lines[this.#struct.hot.line] ?? nothing) : null,
      nameReads: this.#struct?.name ? this.#nameReads / ops : null,
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
  const ops = facts['ops_touching'] ?? 0;
  if (ops === 0) return null;
  const tally = new Tally(struct);
  const lines = new Map<string, Busy>();
  const number = (name: string, i: number) => Number(columns[name]?.[i] ?? 0);
  for (let i = 0; i < n; i++) {
    const sum = { reads: number('reads', i), writes: number('writes', i), rmws: number('rmws', i) };
    const own = isOwn(sample, i);
    if (own && !isInside(sample, i)) continue;
    const at = own ? placeOf(sample, i) : -1;
    if (own) tally.add(at, texts[number('function', i)] ?? '?', sum);
    addBusy(lines, { at, address: number('address', i), cpus: number('cpus', i), sum });
  }
  const [lost, over] = [facts['lost'] ?? 0, facts['over'] ?? 0];
  const own = tally.over(ops);
  return { ...own, busiest: ranked(lines, own.cells, ops), lost, over, exact: true };
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

/**
 * Range of x86-64's vmalloc area, which contains the stacks: the low 48 bits of the first and last address. Source:
 * Documentation/x86/x86_64/mm.rst, Linux 6.1.
 */
const vmalloc = [0xc90000000000, 0xe90000000000] as const;

/**
 * Tell whether a line is on a stack. Only one task uses a stack, but the task can move from CPU to CPU. So accesses of
 * several CPUs do not mean that tasks share the line.
 */
export function isStack({ address, line }: Pick<BusyLine, 'address' | 'line'>): boolean {
  return line < 0 && address >= vmalloc[0] && address < vmalloc[1];
}

function ranked(lines: ReadonlyMap<string, Busy>, cells: readonly Cell[], ops: number): BusyLine[] {
  const all = [...lines.values()].map(({ address, line, cpus, sum }): BusyLine => {
    const own = cells.filter((cell) => Math.floor(cell.at / lineBytes) === line);
    const [first] = own.sort((a, b) => b.rmws - a.rmws || b.writes - a.writes || b.reads - a.reads);
    const per = { reads: sum.reads / ops, writes: sum.writes / ops, rmws: sum.rmws / ops };
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
  const { streams, source, lead } = countedOf(lane);
  let ops = 0;
  const tally = new Tally(struct);
  for (const [s, stream] of streams.entries()) {
    for (let i = 0; i < stream.op.length; i++) {
      const [at, kind] = [lane.points.a[source[s]![i]!]! + lead, stream.kind[i]!];
      const func = t('function {n}', { n: lane.points.d[source[s]![i]!] });
      tally.add(at, func, {
        reads: kind === 0 ? 1 : 0,
        writes: kind === 1 ? 1 : 0,
        rmws: kind === 2 ? 1 : 0,
      });
      if (endsOperation(stream, i)) ops += 1;
    }
  }
  if (ops === 0) return null;
  return { ...tally.over(ops), busiest: [], lost: 0, over: 0, exact: false };
}

/** Names of the functions that the microscope watches, in the lesson's order. */
export function functionName(lane: LaneIndex, func: number): string {
  return countsOf(lane)?.texts[func] ?? '';
}

export function all({ reads, writes, rmws }: Sum): number {
  return reads + writes + rmws;
}

/**
 * Names of a lesson's object and operation. Also the explanations that the view shows instead of zeros when a figure is
 * missing.
 */

type Nouns = Pick<Lesson, 'operation' | 'microscope'>;

/** Return "dentry" for 'struct dentry'. */
export function objectName({ microscope }: Pick<Nouns, 'microscope'>): string {
  return microscope?.object.split(' ').at(-1) || t('object');
}

/** Write "4 stats", "1 stat", "14.3 stats". */
export function operationWords(n: number, { operation }: Pick<Nouns, 'operation'>): string {
  const words = formatFigure(n < 100 ? Math.round(n * 10) / 10 : n);
  return `${words} ${words === '1' ? operation.name : operation.plural}`;
}

/** Explain why no field of the object is known. */
export function noObject(lesson: Nouns): string {
  return t('The x-ray has not found the {object}, so the places of its fields are not known.', {
    object: objectName(lesson),
  });
}

/** Explain why there are no counts per operation; null if there are counts. */
export function noCounts(lane: LaneIndex, lesson: Nouns): string | null {
  if (totalsOf(lane) !== null) return null;
  const { name } = lesson.operation;
  const facts = countsOf(lane)?.facts;
  if (facts === undefined) {
    return countedOf(lane).shown === 0
      ? t('No access to the {object} has been counted yet.', { object: objectName(lesson) })
      : t('No complete {name} has been counted yet.', { name });
  }
  if (facts['size'] === 0) return t('The microscope watched no object in this run.');
  const why = unseen(facts, lesson);
  return t('{why} So there are no numbers per {name}.', { why, name });
}

const reasons = [
  ['ops_slept', t('slept or were preempted')],
  ['ops_left', t('left by a jump to another function')],
  ['ops_again', t('restarted before they ended')],
] as const;

function unseen(facts: Readonly<Record<string, number>>, lesson: Nouns): string {
  const { name } = lesson.operation;
  const of = (fact: string) => facts[fact] ?? 0;
  const ended = of('ops_ended') || of('ops');
  if (ended > 0) {
    return t('None of {ops} touched the {object}.', {
      ops: operationWords(ended, lesson),
      object: objectName(lesson),
    });
  }
  if (of('ops_begun') === 0 && of('ops_broken') === 0)
    return t('The microscope saw no {name} begin.', { name });
  const broken = reasons.flatMap(([fact, words]) =>
    of(fact) > 0 ? [`${formatCount(of(fact))} ${words}`] : [],
  );
  const begun = Math.max(of('ops_begun'), of('ops_broken'));
  const ops = operationWords(begun, lesson);
  return broken.length === 0
    ? t('The microscope saw none of {ops} end.', { ops })
    : t('The microscope saw none of {ops} end: {broken}.', { ops, broken: list(broken) });
}

/**
 * Explain why the order of the accesses is unknown; null if the order is known. Copies and transfers depend on this
 * order.
 */
export function noOrder(lane: LaneIndex, lesson: Nouns): string | null {
  if (countedOf(lane).ops > 0) return null;
  const counts = noCounts(lane, lesson);
  if (counts !== null) return counts;
  return t(
    'The accesses of this run were counted, but too few were saved individually, so their order is not known.',
  );
}

/** Explain why the field that all CPUs write is not known. */
export function noHot(lane: LaneIndex, lesson: Nouns): string {
  const totals = totalsOf(lane);
  if (totals === null) return noCounts(lane, lesson) ?? '';
  const written = totals.lines.some(({ writes, rmws }) => writes + rmws > 0);
  if (written)
    return t('The bytes that are written are in no known field of the {object}.', {
      object: objectName(lesson),
    });
  return t(
    'No {name} writes to the {lines, plural, one {# line} other {# lines}} of the {object}.',
    { name: lesson.operation.name, lines: totals.lines.length, object: objectName(lesson) },
  );
}

/** Explain why the model predicts no rate for a lane; null if the model predicts a rate now or later. */
export function noRate(lane: LaneIndex, lesson: Nouns): string | null {
  const { ops, placed } = countedOf(lane);
  if (ops === 0) return lane.ended ? noOrder(lane, lesson) : null;
  if (placed || countsOf(lane) === null) return null;
  return t(
    'No rate is predicted: the model knows the positions of the accesses in a stat(2), but not in a {name}.',
    { name: lesson.operation.name },
  );
}

/** Explain why the second act, whose axis is time, is empty; null if there is data. */
export function noPath(lane: LaneIndex): string | null {
  if (lane.samples('lockref-counts').length > 0) return null;
  return lane.ended
    ? t(
        'In this workload the axis is time, and the x-ray read no counts of lockref operations, so there is nothing to draw.',
      )
    : t('The counts of the kernel have not been read yet.');
}

// Sums of a lane's counts up to the current moment.

export interface SoFar {
  readonly transfers: number;
  /**
   * Number of operations. An unfinished operation counts as a fraction, because with many CPUs most operations are
   * unfinished.
   */
  readonly ops: number;
  readonly forName: number;
  readonly upgrades: number;
}

export function soFar({ model, done }: Pick<LaneNow, 'model' | 'done'>): SoFar {
  if (model === null) return { transfers: 0, ops: 0, forName: 0, upgrades: 0 };
  const { transfers, forName, upgrades } = model.sums;
  return {
    transfers: transfers[done]!,
    ops: done / Math.max(1, model.counted.perOp),
    forName: forName[done]!,
    upgrades: upgrades[done]!,
  };
}

/** A figure about the modelled order, up to the current moment. */
export function far(one: LaneNow, name: keyof SoFar, text?: string): string {
  return figure('far', one.lane.arm, name, soFar(one)[name], text);
}

/** Format a figure such as "4 stats", without the words "so far". */
export function operationsFar(one: LaneNow, lesson: Lesson): string {
  return far(one, 'ops', operationWords(soFar(one).ops, lesson));
}

/** Text that replaces a figure about the whole run as long as a recording is loading or a guest is running. */
export const stillRead = t('still being read');

/** Transfers per operation over the whole run, including the cold start. Kernels are compared by this figure. */
export function perStatWhole({ lane, model }: Pick<LaneNow, 'lane' | 'model'>): string {
  if (!lane.ended) return stillRead;
  const each = model === null ? Number.NaN : transfersPerStat(model);
  return Number.isNaN(each)
    ? '–'
    : figure('run', lane.arm, 'transfers per op', each, formatFigure(each));
}

/** Transfers per operation so far; a dash until half an operation has finished. */
export function perStatWords(one: LaneNow): string {
  const { transfers, ops } = soFar(one);
  const each = transfers / ops;
  return ops < 0.5
    ? '–'
    : figure('far', one.lane.arm, 'transfers per op', each, formatFigure(each));
}
