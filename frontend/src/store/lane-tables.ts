// SPDX-License-Identifier: GPL-2.0-or-later
/** The tables of a lane. They grow up to a limit; beyond it the oldest rows go. */

import { type Nanos, ns } from '../base/units.ts';
import type { BatchMessage } from '../protocol/messages.ts';
import { LinkColumns, OpColumns, PointColumns, SpanColumns } from './tables.ts';

/** How much of a lane is kept; beyond it the oldest goes, a quarter at a time. */
export interface Limits {
  readonly spans: number;
  readonly lines: number;
}

export const defaultLimits: Limits = { spans: 1_500_000, lines: 200 };

export type Growing = 'spans' | 'ops' | 'links' | 'points';
type TableName = Growing | 'open';

const tableNames: ReadonlySet<string> = new Set(['spans', 'ops', 'links', 'points', 'open']);

export function isTable(name: string): name is TableName {
  return tableNames.has(name);
}

export class LaneTables {
  readonly spans = new SpanColumns();
  readonly ops = new OpColumns();
  readonly links = new LinkColumns();
  readonly points = new PointColumns();
  /** Spans still open at the watermark; replaced as a whole. */
  readonly open = new SpanColumns();
  /** Entries before this were evicted; earlier times are history that is gone, not idle. */
  historyFrom: Nanos = ns(0);
  protected readonly limits: Limits;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  protected append(table: Growing, columns: BatchMessage['columns'], n: number): void {
    this[table].append(columns, n);
    if (table === 'spans' && this.spans.length > this.limits.spans) this.#evict();
    if (table === 'points' && this.points.length > this.limits.spans) this.#evictPoints();
  }

  /** The table begins anew, and with the spans the history. */
  protected beginAnew(table: Growing): void {
    this[table].clear();
    if (table === 'spans') this.historyFrom = ns(0);
  }

  #evictPoints(): void {
    this.points.evict(Math.floor(this.limits.spans * 0.75));
    this.historyFrom = ns(Math.max(this.historyFrom, this.points.t[0] ?? 0));
  }

  #evict(): void {
    this.spans.evict(Math.floor(this.limits.spans * 0.75));
    this.ops.evict(this.limits.spans);
    this.links.evict(this.limits.spans);
    this.historyFrom = ns(Math.max(this.historyFrom, this.spans.t1[0] ?? 0));
  }
}
