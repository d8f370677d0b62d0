// SPDX-License-Identifier: GPL-2.0-or-later
/** Everything the page knows from the server. Messages go in; readers subscribe to the part they show. */

import { assertNever } from '../base/assert.ts';
import { t } from '../base/lang/t.ts';
import { check } from '../protocol/check.ts';
import { readNumbersLesson, readPictureLesson } from '../protocol/contract.checks.gen.ts';
import type { ClientMessage, ServerMessage } from '../protocol/messages.ts';
import { Cells } from './cells.ts';
import { sharing, withChange } from './changes.ts';
import { defaultLimits, type Limits } from './lane-tables.ts';
import type { RunStore } from './run-store.ts';
import { ShownRuns } from './shown-runs.ts';

/** What the page reports of itself, for the latency bench. */
export interface Timing {
  readonly decodeMs: number;
  readonly messages: number;
  /** Newest event to arrival here, ms, of the last batches; empty for a recording. */
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

  /** Where commands go; set by connect(). */
  attach(send: (message: ClientMessage) => void): void {
    this.#send = send;
  }

  readonly command = (message: ClientMessage): void => this.#send(message);

  /** Knobs of a model on the page: they change what is made of a run, not the run. */
  setModel(values: Readonly<Record<string, number>>): void {
    this.#runs.setModel(values);
    this.events.emit();
  }

  /** Columns of the shown run. */
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
        return; // protocol/socket.ts takes it.
      case 'segments':
        return; // protocol/segments.ts fetches them, and gives what they hold.
      case 'begun':
        return this.begun.set(message.run_id);
      case 'class':
      case 'class_welcome':
      case 'class_roster':
      case 'class_place':
      case 'class_question':
      case 'class_answered':
      case 'class_tally':
      case 'class_confusion':
      case 'class_raised':
      case 'class_own':
      case 'class_timer':
      case 'class_watched':
      case 'class_watching':
      case 'class_seen':
      case 'class_opened':
      case 'class_tries':
        return this.classNews.set(message);
      case 'error':
        if (message.run != null) this.#runs.lose(message.run);
        return this.complain(message);
      default:
        assertNever(message);
    }
  }

  #takeLesson(tree: Record<string, unknown>): void {
    const seen = typeof tree['view'] === 'string';
    const checked = seen ? check(readPictureLesson, tree) : check(readNumbersLesson, tree);
    if (checked.ok) {
      const lesson = checked.value;
      this.numbers.set(lesson.view === null ? lesson : null);
      this.lesson.set(lesson.view === null ? null : sharing(this.lesson.get(), lesson));
      return;
    }
    this.complain({
      type: 'error',
      code: 'lesson',
      sentence: t('The lesson came in a shape this page does not know: {place} {complaint}.', {
        place: checked.place,
        complaint: checked.complaint,
      }),
      remedy: t('Reload the page; if it stays, page and server are of different versions.'),
      detail: '',
    });
  }

  /** Only while the run goes: a late joiner gets its past in one piece. */
  #clockBatch(runId: string, newestMs: number | null): void {
    const phase = this.#runs.of(runId).message?.phase;
    if (newestMs === null || (phase !== 'running' && phase !== 'draining')) return;
    const late = Date.now() - newestMs;
    const { eventToBrowserMs } = this.timing;
    this.timing = { ...this.timing, eventToBrowserMs: [...eventToBrowserMs.slice(-999), late] };
  }
}
