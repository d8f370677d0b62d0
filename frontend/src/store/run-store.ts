// SPDX-License-Identifier: GPL-2.0-or-later
/** What is known of one run: its message, its lanes, how far it is read. */

import type { ReadingMessage, RunMessage } from '../protocol/messages.ts';
import { LaneStore } from './lane.ts';
import type { Limits } from './lane-tables.ts';

/** A run and its lanes. Lanes are made at their first message and stay in the order of the run's arms. */
export class RunStore {
  readonly id: string;
  readonly lanes = new Map<string, LaneStore>();
  message: RunMessage | null = null;
  /** Rises with every change of any lane's rows or columns. */
  version = 0;
  /** How far it is read; null: nobody said, a live run say. */
  reading: ReadingMessage | null = null;
  /** Knobs of a model on the page. */
  model: Readonly<Record<string, number>> = {};
  readonly #limits: Limits;

  constructor(id: string, limits: Limits) {
    this.id = id;
    this.#limits = limits;
  }

  lane(arm: string): LaneStore {
    let lane = this.lanes.get(arm);
    if (lane === undefined) {
      lane = new LaneStore(arm, this.#limits);
      lane.coming = this.coming;
      this.lanes.set(arm, lane);
      this.version += 1;
    }
    return lane;
  }

  /** More of a recording is still to come. */
  get coming(): boolean {
    return this.reading?.whole === false;
  }

  takeReading(message: ReadingMessage): void {
    this.reading = message;
    for (const lane of this.lanes.values()) lane.coming = this.coming;
    this.version += 1;
  }

  setModel(values: Readonly<Record<string, number>>): void {
    this.model = values;
    this.version += 1;
  }

  /** Lanes in the order of the arms, then any that the run did not announce. */
  ordered(): LaneStore[] {
    const arms = this.message?.arms ?? [];
    const place = (lane: LaneStore) => {
      const at = arms.indexOf(lane.arm);
      return at < 0 ? arms.length : at;
    };
    return [...this.lanes.values()].sort((a, b) => place(a) - place(b));
  }

  get hasEvents(): boolean {
    for (const lane of this.lanes.values())
      if (lane.spans.length + lane.ops.length + lane.points.length + lane.looks > 0) return true;
    return false;
  }
}
