// SPDX-License-Identifier: GPL-2.0-or-later
/** Batches of a table count up; what this browser was not sent shows as a jump, or is said in words. */

import type { BatchMessage, GapMessage } from '../protocol/messages.ts';

/** The most gaps of a lane that are listed. */
const most = 100;

export class Gaps {
  list: readonly GapMessage[] = [];
  readonly #lastSeq = new Map<string, number>();
  /** Rows of gaps of a table whose end is not known yet: the next batch says it. */
  readonly #open = new Map<string, number>();

  /**
   * Whether a batch continues its table. A return to 0 is the whole table sent again after a reconnect: `again`. A
   * batch that was taken before is `old`.
   */
  order({ run_id, arm, table, seq }: BatchMessage): 'next' | 'again' | 'old' {
    const last = this.#lastSeq.get(table) ?? -1;
    const again = seq <= last;
    if (again && seq !== 0) return 'old';
    if (seq > last + 1)
      this.add({ type: 'gap', run_id, arm, table, from_seq: last + 1, to_seq: seq - 1, rows: 0 });
    this.#lastSeq.set(table, seq);
    return again ? 'again' : 'next';
  }

  /** The server skipped these batches; true: they were taken before, so the table begins anew. */
  skip({ table, from_seq, to_seq }: GapMessage): boolean {
    const again = from_seq <= (this.#lastSeq.get(table) ?? -1);
    this.#lastSeq.set(table, to_seq);
    return again;
  }

  add(gap: GapMessage): void {
    this.list = [...this.list.slice(1 - most), gap];
    this.#open.set(gap.table, (this.#open.get(gap.table) ?? 0) + gap.rows);
  }

  /** Rows that were missed before what comes now; 0: nobody counted them; undefined: none were. */
  close(table: string): number | undefined {
    const rows = this.#open.get(table);
    this.#open.delete(table);
    return rows;
  }

  forget(table: string): void {
    this.#open.delete(table);
    this.list = this.list.filter((gap) => gap.table !== table);
  }
}
