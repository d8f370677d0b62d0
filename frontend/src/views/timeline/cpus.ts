// SPDX-License-Identifier: GPL-2.0-or-later
/** The same spans by CPU: what ran where. Brought up to date with what came since the last look. */

import { StrandBuilder } from '../../derive/lane-index.ts';
import type { KindFacts, LaneIndex, SpanTable, Strand } from '../../derive/types.ts';

/** The state of a thread that has a CPU; each lesson with states has it. */
const onCpu = 'running';

interface Found {
  seen: number;
  /** The first span seen, to notice that the table began anew or dropped its oldest. */
  first: number;
  readonly byCpu: Map<number, StrandBuilder>;
}

const cache = new WeakMap<SpanTable, Found>();

/** A strand for each CPU on which something ran, its `row` the number of the CPU. */
export function cpuStrands(kinds: readonly KindFacts[], lane: LaneIndex): readonly Strand[] {
  const running = kinds.findIndex((kind) => kind.name === onCpu && kind.layer === 'state');
  const { spans } = lane;
  if (running < 0) return [];
  let found = cache.get(spans);
  const first = spans.length > 0 ? spans.id[0]! : -1;
  if (found === undefined || found.seen > spans.length || found.first !== first) {
    found = { seen: 0, first, byCpu: new Map() };
    cache.set(spans, found);
  }
  for (; found.seen < spans.length; found.seen++) {
    const i = found.seen;
    const cpu = spans.cpu[i]!;
    if (spans.kind[i] !== running || cpu < 0) continue;
    let strand = found.byCpu.get(cpu);
    if (strand === undefined) {
      strand = new StrandBuilder(cpu, 'state', Uint8Array.of(running));
      found.byCpu.set(cpu, strand);
    }
    strand.add(spans, i);
  }
  return [...found.byCpu.values()].sort((a, b) => a.row - b.row);
}
