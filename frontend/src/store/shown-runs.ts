// SPDX-License-Identifier: GPL-2.0-or-later
/** Which of the runs that the server speaks of is shown, which is awaited, and which are forgotten. */

import { t } from '../base/lang/t.ts';
import type { ErrorMessage, ReadingMessage, RunMessage } from '../protocol/messages.ts';
import type { Cells } from './cells.ts';
import type { LaneStore } from './lane.ts';
import type { Limits } from './lane-tables.ts';
import { RunStore } from './run-store.ts';

const maxRuns = 3;

/** While a recording comes in, its events are announced so often: each look at them costs time. */
const betweenMs = 400;

/** Says that events came: at once, or, while a recording comes in, every now and then. */
class Announcer {
  readonly #say: () => void;
  #saidAt = Number.NEGATIVE_INFINITY;
  #later: ReturnType<typeof setTimeout> | null = null;

  constructor(say: () => void) {
    this.#say = say;
  }

  announce(coming: boolean): void {
    const waitMs = coming ? this.#saidAt + betweenMs - performance.now() : 0;
    if (waitMs > 0) this.#later ??= setTimeout(() => this.#now(), waitMs);
    else this.#now();
  }

  #now(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
    this.#saidAt = performance.now();
    this.#say();
  }
}

function unreadable(arm: string, cause: unknown): ErrorMessage {
  return {
    type: 'error',
    code: 'columns',
    sentence: t('Events of {arm} could not be read: {cause}.', {
      arm,
      cause: cause instanceof Error ? cause.message : String(cause),
    }),
    remedy: t('Reload the page; if it stays, page and server are of different versions.'),
    detail: '',
  };
}

export class ShownRuns {
  readonly #cells: Cells;
  readonly #limits: Limits;
  readonly #runs = new Map<string, RunStore>();
  readonly #announcer: Announcer;
  #model: Readonly<Record<string, number>> = {};

  constructor(cells: Cells, limits: Limits) {
    this.#cells = cells;
    this.#limits = limits;
    this.#announcer = new Announcer(() => cells.events.emit());
  }

  setModel(values: Readonly<Record<string, number>>): void {
    this.#model = values;
    for (const run of this.#runs.values()) run.setModel(values);
  }

  /** Columns of the shown run. */
  shown(): RunStore | null {
    const message = this.#cells.run.get();
    return message === null ? null : (this.#runs.get(message.run_id) ?? null);
  }

  of(runId: string): RunStore {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      run = new RunStore(runId, this.#limits);
      run.setModel(this.#model);
      this.#runs.set(runId, run);
    }
    return run;
  }

  takeReading(message: ReadingMessage): void {
    const run = this.of(message.run_id);
    run.takeReading(message);
    this.#cells.reading.set(message.whole ? null : message);
    this.#tell(run);
  }

  /** A run that is not whole is no run to look at. */
  lose(id: string): void {
    this.#cells.lost.set(new Set([...this.#cells.lost.get(), id]));
    if (this.#cells.reading.get()?.run_id === id) this.#cells.reading.set(null);
    if (this.#cells.pending.get()?.run_id === id) this.#cells.pending.set(null);
    if (this.#cells.run.get()?.run_id === id) {
      this.#cells.run.set(null);
      this.#cells.lanes.set([]);
    }
    if (this.#runs.delete(id)) this.#cells.events.emit();
  }

  takeRun(message: RunMessage): void {
    if (message.purpose === 'measure') return;
    this.#cells.forgive(message.run_id);
    // A live run takes the place of a recording that was coming in: no more of that will come.
    if (message.source === 'live') this.#cells.reading.set(null);
    this.#renew(message);
    const run = this.of(message.run_id);
    run.message = message;
    for (const arm of message.arms) run.lane(arm);
    run.version += 1;
    const shown = this.#cells.run.get();
    if (shown === null || shown.run_id === message.run_id || run.hasEvents) {
      this.#cells.run.set(message);
      if (this.#cells.pending.get()?.run_id === message.run_id) this.#cells.pending.set(null);
    } else if (message.phase === 'failed') this.#fail(message);
    else this.#cells.pending.set(message);
    this.#forget();
    this.lanesChanged();
    this.#cells.events.emit();
  }

  /** A live run that comes again, out of its file: its batches are other ones, so all begins anew. */
  #renew(message: RunMessage): void {
    const former = this.#runs.get(message.run_id);
    if (!former?.message || former.message.source === message.source) return;
    this.#runs.delete(message.run_id);
    this.of(message.run_id).version = former.version + 1;
  }

  /** A run that came to no events: there is nothing to wait for. */
  #fail({ run_id, message }: RunMessage): void {
    const awaited = this.#cells.pending.get()?.run_id === run_id;
    this.#cells.lost.set(new Set([...this.#cells.lost.get(), run_id]));
    if (!awaited) return;
    this.#cells.pending.set(null);
    if (message !== '')
      this.#cells.complain({
        type: 'error',
        code: 'run',
        sentence: message,
        remedy: t('Run again; if it stays, ./duet doctor looks for the cause.'),
        detail: '',
      });
  }

  /** The pending run has its first events: now it is the one to look at. */
  promote(runId: string): void {
    const pending = this.#cells.pending.get();
    if (pending?.run_id !== runId || !this.of(runId).hasEvents) return;
    this.#cells.pending.set(null);
    this.#cells.run.set(pending);
    this.lanesChanged();
  }

  change(runId: string, arm: string, act: (lane: LaneStore) => void): void {
    const run = this.of(runId);
    const lane = run.lane(arm);
    const before = lane.version;
    try {
      act(lane);
    } catch (cause) {
      this.#cells.complain(unreadable(arm, cause));
    }
    if (lane.version === before) return;
    run.version += 1;
    this.#tell(run);
  }

  /** Events of a run came. */
  #tell(run: RunStore): void {
    if (this.#cells.run.get()?.run_id === run.id) this.#announcer.announce(run.coming);
  }

  /** Columns are large: only the shown run, the pending one and the newest others stay. */
  #forget(): void {
    const keep = new Set([this.#cells.run.get()?.run_id, this.#cells.pending.get()?.run_id]);
    for (const id of this.#runs.keys()) {
      if (this.#runs.size <= maxRuns) return;
      if (!keep.has(id)) this.#runs.delete(id);
    }
  }

  lanesChanged(): void {
    const id = this.#cells.pending.get()?.run_id ?? this.#cells.run.get()?.run_id;
    if (id === undefined) return;
    const states = this.of(id)
      .ordered()
      .map((lane) => lane.state)
      .filter((state) => state !== null);
    const old = this.#cells.lanes.get();
    if (states.length === old.length && states.every((s, i) => s === old[i])) return;
    this.#cells.lanes.set(states);
  }
}
