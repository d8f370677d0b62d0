// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page's coherence model for the tests of the other one (tests/backend/lenses/scope/test_coherence.py):
 *
 *   node coherence-runner.ts CASES.json RESULTS.json
 */

import { readFileSync, writeFileSync } from 'node:fs';
import {
  type AccessStream,
  type MergedLog,
  type Protocol,
  type Settings,
  simulate,
  stateAfter,
  stateNames,
  type Until,
} from '../../src/views/cache-lines/model/coherence.ts';
import { interleave } from '../../src/views/cache-lines/model/interleave.ts';
import { pointAt, profileOf, sensitivity } from '../../src/views/cache-lines/model/prediction.ts';
import {
  owningLoads,
  recordedStreams,
  wholeOperations,
} from '../../src/views/cache-lines/model/streams.ts';

interface Lists {
  readonly line: number[];
  readonly kind: number[];
  readonly op: number[];
  readonly work: number[];
  readonly part: number[];
}
interface Cases {
  readonly logs: readonly {
    cpus: number;
    lines: number;
    protocol: Protocol;
    cpu: number[];
    line: number[];
    kind: number[];
  }[];
  readonly orders: readonly { streams: Lists[]; settings: Settings; seed: number; until: Until }[];
  readonly curves: readonly {
    before: Lists[];
    after: Lists[];
    settings: Settings;
    cpus: number;
    seeds: number[];
    ops: number;
  }[];
  readonly recorded: readonly Record<'cpu' | 'at' | 'size' | 'kind' | 'op' | 'func', number[]>[];
  readonly functions: readonly string[];
}

const [casesFile, resultsFile] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(casesFile!, 'utf8')) as Cases;

const typed = ({ line, kind, op, work, part }: Lists): AccessStream => ({
  line: Uint8Array.from(line),
  kind: Uint8Array.from(kind),
  op: Uint32Array.from(op),
  work: Float64Array.from(work),
  part: Uint8Array.from(part),
});
const lists = ({ line, kind, op, work, part }: AccessStream): Lists => ({
  line: [...line],
  kind: [...kind],
  op: [...op],
  work: [...work],
  part: [...part],
});

const logs = cases.logs.map(({ cpus, lines, protocol, ...one }) => {
  const log: MergedLog = {
    cpus,
    lines,
    length: one.cpu.length,
    cpu: Uint8Array.from(one.cpu),
    index: new Uint32Array(one.cpu.length),
    line: Uint8Array.from(one.line),
    kind: Uint8Array.from(one.kind),
    ops: 0,
    endNs: null,
    spent: null,
  };
  const trace = simulate(log, protocol);
  const at = stateAfter(trace, log.length);
  const states = Array.from(
    { length: cpus * lines },
    (_, i) => stateNames[at.state(Math.floor(i / lines), i % lines)],
  ).join('');
  return {
    ...trace.totals,
    event: [...trace.event],
    from: [...trace.from],
    lost: [...trace.lost],
    states,
  };
});

const orders = cases.orders.map(({ streams, settings, seed, until }) => {
  const { cpu, ops, endNs, spent } = interleave(streams.map(typed), settings, seed, until);
  return {
    cpu: [...cpu],
    ops,
    endNs,
    accessNs: [...(spent?.accessNs ?? [])],
    ownNs: spent?.ownNs ?? 0,
  };
});

const curves = cases.curves.map(({ before, after, settings, cpus, seeds, ops }) => {
  const pair = { before: before.map(typed), after: after.map(typed) };
  const runs = { seeds, ops };
  return {
    point: pointAt(pair.before, settings, cpus, runs),
    sensitivity: sensitivity(pair, settings, cpus, runs),
    profile: profileOf('stock', pair.before, settings, cpus, runs),
  };
});

const recorded = cases.recorded.map((one) => {
  const { streams } = recordedStreams(
    { length: one.cpu.length, ...one },
    { functions: cases.functions },
  );
  return streams.map((s) => ({
    all: lists(s),
    whole: lists(wholeOperations(s)),
    owning: lists(owningLoads(s)),
  }));
});

writeFileSync(resultsFile!, JSON.stringify({ logs, orders, curves, recorded }));
