// SPDX-License-Identifier: GPL-2.0-or-later
/** The parts of what the page knows, each to be subscribed to by itself. */

import { Cell, Signal } from '../base/signal.ts';
import type { Lesson, NumbersLesson } from '../protocol/lesson.ts';
import type {
  BuildMessage,
  ChangedMessage,
  ClassMessage,
  ControlMessage,
  ErrorMessage,
  HeldMessage,
  HelloMessage,
  JudgedMessage,
  LaneMessage,
  MeasuredMessage,
  ReadingMessage,
  RunMessage,
  RunsMessage,
} from '../protocol/messages.ts';
import type { Connection } from '../protocol/socket.ts';

export class Cells {
  readonly connection = new Cell<Connection>({ state: 'connecting', reason: '', retryInMs: null });
  readonly hello = new Cell<HelloMessage | null>(null);
  readonly lesson = new Cell<Lesson | null>(null);
  /** The open lesson, where it has no view; at most one of the two is set. */
  readonly numbers = new Cell<NumbersLesson | null>(null);
  /** The run whose events are shown; a new one takes over with its first events. */
  readonly run = new Cell<RunMessage | null>(null);
  /** A run that was announced and has no events yet. */
  readonly pending = new Cell<RunMessage | null>(null);
  /** Lanes of the pending run if there is one, else of the shown one: who boots, runs or failed. */
  readonly lanes = new Cell<readonly LaneMessage[]>([]);
  /** Lanes of the newest run that somebody has held; latest of each. */
  readonly holds = new Cell<readonly HeldMessage[]>([]);
  readonly builds = new Cell<readonly BuildMessage[]>([]);
  /** Changes that this visitor makes to arms: the newest of each arm that is changed. */
  readonly changes = new Cell<readonly ChangedMessage[]>([]);
  readonly measured = new Cell<MeasuredMessage | null>(null);
  /** The newest judgement of a challenge; it may be of another lesson. */
  readonly judged = new Cell<JudgedMessage | null>(null);
  /** Who controls the live run that was watched last. */
  readonly control = new Cell<ControlMessage | null>(null);
  /** What runs live on the server, and what this visitor waits for; null before the server said. */
  readonly runs = new Cell<(RunsMessage & { readonly at: number }) | null>(null);
  /** The last run of those that this page asked for to begin. */
  readonly begun = new Cell<string | null>(null);
  /** The newest message about a class that this page is in. */
  readonly classNews = new Cell<ClassMessage | null>(null);
  readonly errors = new Cell<readonly ErrorMessage[]>([]);
  /** The recording that comes in, while it does. */
  readonly reading = new Cell<ReadingMessage | null>(null);
  /** Runs that were asked for and will not come: the server has said why. */
  readonly lost = new Cell<ReadonlySet<string>>(new Set());
  /** Rows, columns, losses of the shown run changed. */
  readonly events = new Signal();
  /** Metrics or lines changed. */
  readonly figures = new Signal();

  /** A run's state says why it failed, and so does its error, which knows what to do. */
  complain(error: ErrorMessage): void {
    const others = this.errors
      .get()
      .filter(({ code, sentence }) => code !== 'run' || sentence !== error.sentence);
    this.errors.set([...others.slice(-9), error]);
  }

  dismiss(error: ErrorMessage): void {
    this.errors.set(this.errors.get().filter((e) => e !== error));
  }

  /** It may be asked for once more. */
  forgive(id: string): void {
    if (!this.lost.get().has(id)) return;
    this.lost.set(new Set([...this.lost.get()].filter((one) => one !== id)));
  }
}
