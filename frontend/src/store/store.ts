// SPDX-License-Identifier: GPL-2.0-or-later
/** The page's state, built from the server's messages. Readers subscribe to single parts of this state. */

import { t } from '../base/lang/t.ts';
import { Cell, Signal } from '../base/signal.ts';
import { check } from '../protocol/check.ts';
import { readNumbersLesson, readPictureLesson } from '../protocol/contract.checks.gen.ts';
import type { Lesson, NumbersLesson } from '../protocol/lesson.ts';
import type {
  BuildMessage,
  ChangedMessage,
  ClientMessage,
  ControlMessage,
  ErrorMessage,
  HeldMessage,
  HelloMessage,
  JudgedMessage,
  LaneMessage,
  MeasuredMessage,
  PluginMessage,
  ReadingMessage,
  RunMessage,
  RunsMessage,
  ServerMessage,
} from '../protocol/messages.ts';
import type { Connection } from '../protocol/socket.ts';
import { reuseUnchanged, withChange } from './changes.ts';
import { LaneStore } from './lane.ts';
import { defaultLimits, type Limits } from './tables.ts';

// Parts of the state. Each part has its own subscription.

export class Cells {
  readonly connection = new Cell<Connection>({ state: 'connecting', reason: '', retryInMs: null });
  readonly hello = new Cell<HelloMessage | null>(null);
  readonly lesson = new Cell<Lesson | null>(null);
  /** The open lesson, if it is a lesson without a view; otherwise null. Either `lesson` or `numbers` is null. */
  readonly numbers = new Cell<NumbersLesson | null>(null);
  /** The run whose events the page shows. A new run replaces it when the new run's first events arrive. */
  readonly run = new Cell<RunMessage | null>(null);
  /** A run that was announced but has no events yet. */
  readonly pending = new Cell<RunMessage | null>(null);
  /** Lanes of the pending run. If no run is pending, lanes of the shown run. A lane is booting, running or failed. */
  readonly lanes = new Cell<readonly LaneMessage[]>([]);
  /** The held lanes of the newest run, each with its most recent message. */
  readonly holds = new Cell<readonly HeldMessage[]>([]);
  readonly builds = new Cell<readonly BuildMessage[]>([]);
  /** This visitor's changes: the newest state of each changed arm. */
  readonly changes = new Cell<readonly ChangedMessage[]>([]);
  readonly measured = new Cell<MeasuredMessage | null>(null);
  /** The newest judgement of a challenge. The challenge may belong to another lesson. */
  readonly judged = new Cell<JudgedMessage | null>(null);
  /** Who controls the live run that this page watched last. */
  readonly control = new Cell<ControlMessage | null>(null);
  /** Live runs on the server, and this visitor's queued runs; null until the server has sent them. */
  readonly runs = new Cell<(RunsMessage & { readonly at: number }) | null>(null);
  /** The most recent live run that this page requested. */
  readonly begun = new Cell<string | null>(null);
  /** The newest message that only plug-ins handle. */
  readonly news = new Cell<PluginMessage | null>(null);
  readonly errors = new Cell<readonly ErrorMessage[]>([]);
  /** Progress of the recording that is loading. */
  readonly reading = new Cell<ReadingMessage | null>(null);
  /** Requested runs that the server reported as lost, by the names used in the requests. */
  readonly lost = new Cell<ReadonlySet<string>>(new Set());
  /** Announces changes to rows, columns or losses of the shown run. */
  readonly events = new Signal();
  /** Announces changes to metrics or lines. */
  readonly figures = new Signal();

  /**
   * Add an error. A failed run is reported twice: by its state, and by an error that names a remedy. Only the error is
   * kept, because it contains more information.
   */
  complain(error: ErrorMessage): void {
    const others = this.errors
      .get()
      .filter(({ code, sentence }) => code !== 'run' || sentence !== error.sentence);
    this.errors.set([...others.slice(-9), error]);
  }

  dismiss(error: ErrorMessage): void {
    this.errors.set(this.errors.get().filter((e) => e !== error));
  }

  /** Allow a lost run to be requested again. */
  forgive(id: string): void {
    if (!this.lost.get().has(id)) return;
    this.lost.set(new Set([...this.lost.get()].filter((one) => one !== id)));
  }
}

// State of one run: its message, its lanes, and its loading progress.

/** A run and its lanes. A lane is created when it is first mentioned. Lanes are ordered like the run's arms. */
export class RunStore {
  readonly id: string;
  readonly lanes = new Map<string, LaneStore>();
  message: RunMessage | null = null;
  /** A number that increases whenever any lane's rows or columns change. */
  version = 0;
  /** Loading progress; null if the server has announced no progress. Live runs have no loading progress. */
  reading: ReadingMessage | null = null;
  /** Knob values of a model that runs on the page. */
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

  /** Whether more data of a recording will arrive. */
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

  /** Lanes in the order of the run's arms, followed by lanes that the run did not announce. */
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

// Decides which of the server's runs is shown, which run is pending, and which runs are forgotten.

const maxRuns = 3;

/** Minimum time between notifications while a recording loads, ms. Each notification makes readers work. */
const betweenMs = 400;

/** Notifies readers of new events: immediately, or at intervals while a recording loads. */
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
    remedy: t('Reload the page; if the error persists, page and server have different versions.'),
    detail: '',
  };
}

class ShownRuns {
  readonly #cells: Cells;
  readonly #limits: Limits;
  readonly #runs = new Map<string, RunStore>();
  readonly #announcer: Announcer;
  /** When the loading progress was reported last, ms. */
  #readingAt = 0;
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

  /** The store of the shown run, including its columns. */
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
    this.#reportReading(message);
    this.#tell(run);
  }

  #reportReading(message: ReadingMessage): void {
    const now = performance.now();
    const goesOn = !message.whole && this.#cells.reading.get()?.run_id === message.run_id;
    if (goesOn && now < this.#readingAt + betweenMs) return;
    this.#readingAt = now;
    this.#cells.reading.set(message.whole ? null : message);
  }

  /** Forget a run that will not arrive completely. The data of this run are not shown, because they are incomplete. */
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
    // A live run replaces a recording that is loading, so the server will not send the rest of the recording.
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

  /** After a live run ends, the server resends it from its file in different batches, so everything is reset. */
  #renew(message: RunMessage): void {
    const former = this.#runs.get(message.run_id);
    if (!former?.message || former.message.source === message.source) return;
    this.#runs.delete(message.run_id);
    this.of(message.run_id).version = former.version + 1;
  }

  /** Stop waiting for a run that failed before it had events. */
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
        remedy: t('Run again; if the error persists, ./duet doctor looks for the cause.'),
        detail: '',
      });
  }

  /** Show the pending run if its first events have arrived. */
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

  /** Announce new events if they belong to the shown run. */
  #tell(run: RunStore): void {
    if (this.#cells.run.get()?.run_id === run.id) this.#announcer.announce(run.coming);
  }

  /**
   * Limit the number of stored runs, because columns are large. The shown run, the pending run and the newest other
   * runs stay.
   */
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

/** Times that the latency benchmark reads. */
export interface Timing {
  readonly decodeMs: number;
  readonly messages: number;
  /** Delays of the last batches, ms, from a batch's newest event to its arrival here; empty for a recording. */
  readonly eventToBrowserMs: readonly number[];
}

export class Store extends Cells {
  timing: Timing = { decodeMs: 0, messages: 0, eventToBrowserMs: [] };

  readonly #runs: ShownRuns;
  #send: (message: ClientMessage) => void = () => {};

  constructor(limits: Limits = defaultLimits) {
    super();
    this.#runs = new ShownRuns(this, limits);
  }

  /** Set the function that sends commands to the server; connect() calls this method. */
  attach(send: (message: ClientMessage) => void): void {
    this.#send = send;
  }

  readonly command = (message: ClientMessage): void => this.#send(message);

  /** Set knobs of a model that runs on the page. These knobs change the index, but not the run. */
  setModel(values: Readonly<Record<string, number>>): void {
    this.#runs.setModel(values);
    this.events.emit();
  }

  /** The store of the shown run, including its columns. */
  shown(): RunStore | null {
    return this.#runs.shown();
  }

  dispatch(message: ServerMessage, tookMs = 0): void {
    const { messages, decodeMs } = this.timing;
    this.timing = { ...this.timing, messages: messages + 1, decodeMs: decodeMs + tookMs };
    switch (message.type) {
      case 'hello':
        return this.hello.set(message);
      case 'lesson':
        return this.#takeLesson(message.lesson);
      case 'run':
        return this.#runs.takeRun(message);
      case 'lane':
        this.#runs.of(message.run_id).lane(message.arm).state = message;
        this.#runs.of(message.run_id).version += 1;
        this.#runs.lanesChanged();
        return this.events.emit();
      case 'reading':
        return this.#runs.takeReading(message);
      case 'rows':
        return this.#runs.change(message.run_id, message.arm, (lane) => lane.takeRows(message));
      case 'batch':
        this.#clockBatch(message.run_id, message.newest_event_host_ms);
        this.#runs.change(message.run_id, message.arm, (lane) => lane.takeBatch(message));
        return this.#runs.promote(message.run_id);
      case 'gap':
        return this.#runs.change(message.run_id, message.arm, (lane) => lane.takeGap(message));
      case 'loss':
        return this.#runs.change(message.run_id, message.arm, (lane) => lane.takeLoss(message));
      case 'metrics':
        this.#runs.change(message.run_id, message.arm, (lane) => lane.takeMetrics(message));
        return this.figures.emit();
      case 'line':
        this.#runs.of(message.run_id).lane(message.arm).takeLine(message);
        return this.figures.emit();
      case 'sample':
        return this.#runs.change(message.run_id, message.arm, (lane) => lane.takeSample(message));
      case 'lens':
        return this.#runs.change(message.run_id, message.arm, (lane) => lane.takeLens(message));
      case 'held':
        return this.holds.set([
          ...this.holds.get().filter((h) => h.run_id === message.run_id && h.arm !== message.arm),
          message,
        ]);
      case 'build':
        return this.builds.set([
          ...this.builds.get().filter((b) => b.arm !== message.arm || b.lesson !== message.lesson),
          message,
        ]);
      case 'changed':
        return this.changes.set(withChange(this.changes.get(), message));
      case 'measured':
        return this.measured.set(message);
      case 'judged':
        return this.judged.set(message);
      case 'control':
        return this.control.set(message);
      case 'runs':
        return this.runs.set({ ...message, at: performance.now() });
      case 'heartbeat':
        return; // protocol/socket.ts has handled this message.
      case 'segments':
        return; // protocol/segments.ts fetches the segments and passes on their messages.
      case 'begun':
        return this.begun.set(message.run_id);
      case 'error':
        if (message.run != null) this.#runs.lose(message.run);
        return this.complain(message);
      default:
        // A type error here means that a message of the core has no case above.
        return this.news.set(message satisfies PluginMessage);
    }
  }

  #takeLesson(tree: Record<string, unknown>): void {
    const seen = typeof tree['view'] === 'string';
    const checked = seen ? check(readPictureLesson, tree) : check(readNumbersLesson, tree);
    if (checked.ok) {
      const lesson = checked.value;
      this.numbers.set(lesson.view === null ? lesson : null);
      this.lesson.set(lesson.view === null ? null : reuseUnchanged(this.lesson.get(), lesson));
      return;
    }
    this.complain({
      type: 'error',
      code: 'lesson',
      sentence: t('This page cannot read the lesson: {place} {complaint}. Reload the page.', {
        place: checked.place,
        complaint: checked.complaint,
      }),
      remedy: t('Reload the page; if the error persists, page and server have different versions.'),
      detail: '',
    });
  }

  /**
   * Measure a batch's delay while its run is running or draining. A viewer who joins later receives all past events
   * together, so the delays of these events mean nothing.
   */
  #clockBatch(runId: string, newestMs: number | null): void {
    const phase = this.#runs.of(runId).message?.phase;
    if (newestMs === null || (phase !== 'running' && phase !== 'draining')) return;
    const late = Date.now() - newestMs;
    const { eventToBrowserMs } = this.timing;
    this.timing = { ...this.timing, eventToBrowserMs: [...eventToBrowserMs.slice(-999), late] };
  }
}
