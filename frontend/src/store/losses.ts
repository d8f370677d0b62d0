// SPDX-License-Identifier: GPL-2.0-or-later
/** What a lane lost on its way: events dropped before this browser, rows that this browser was not sent. */

import { type Nanos, ns } from '../base/units.ts';
import type { LossMessage } from '../protocol/messages.ts';

export interface Loss {
  readonly t0: Nanos;
  readonly t1: Nanos;
  /** null: it is not known how many. */
  readonly events: number | null;
  readonly where: string;
}

/** The most losses of a lane that are listed; beyond it the oldest goes. */
const most = 1000;

export class Losses {
  list: readonly Loss[] = [];

  take({ t0_ns, t1_ns, events, where }: LossMessage): void {
    this.#add({ t0: ns(t0_ns), t1: ns(t1_ns), events, where });
  }

  /**
   * Rows that this browser was not sent lie between the last it has and the next that comes: lost, not idle.
   *
   * @param next_ns undefined: nothing came after them
   * @param rows 0: it is not known how many
   */
  notSent(last_ns: number, next_ns: number | undefined, rows: number): void {
    const to = Math.max(last_ns, next_ns ?? last_ns);
    const events = rows > 0 ? rows : null;
    this.#add({ t0: ns(last_ns), t1: ns(to), events, where: 'browser' });
  }

  clear(): void {
    this.list = [];
  }

  #add(loss: Loss): void {
    this.list = [...this.list.slice(1 - most), loss];
  }
}
