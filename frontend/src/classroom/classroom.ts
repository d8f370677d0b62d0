// SPDX-License-Identifier: GPL-2.0-or-later
/** The class of this page: takes its messages, sends its commands, and comes back to it by itself after a break. */

import { Cell } from '../base/signal.ts';
import type { Place } from '../navigation/place.ts';
import type { ClientMessage, ErrorMessage } from '../protocol/messages.ts';
import type { Cells } from '../store/store.ts';
import { isOpen, reduceClass } from './class-state.ts';
import { Driving } from './driving.ts';
import { TabMembership } from './membership.ts';
import { comingBack, leaveCurrent, type Membership } from './memory.ts';
import { Sending } from './sending.ts';

/** Codes of errors that say that this page cannot come back to its class. */
const gone: ReadonlySet<string> = new Set(['no-class', 'nickname']);
/** Of an error that passes: the server has no room for the class just now. */
const full = 'full';
const tryAgainMs = 5000;

/** What is on its way in. */
export interface Entering {
  readonly how: 'start' | 'join' | 'back';
  readonly code: string;
}

type Store = Pick<Cells, 'classNews' | 'connection' | 'hello' | 'errors' | 'dismiss'> & {
  readonly command: (message: ClientMessage) => void;
};

export class Classroom extends Driving {
  readonly entering = new Cell<Entering | null>(null);
  /** Why the last attempt to start or to join failed; empty: it did not. */
  readonly refused = new Cell('');
  /** Where the instructor was before he showed a run; null: he shows none. */
  readonly before = new Cell<Place | null>(null);
  readonly #store: Store;
  readonly #sending: Sending;
  readonly #membership: TabMembership;
  /** The connection broke, and the server has not greeted this page anew. */
  #broke = true;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** @param asked the code of a class that the address asks for; null: the one of before a reload */
  constructor(store: Store, asked: string | null = null) {
    const sending = new Sending(store.command);
    super((message) => sending.say(message));
    this.#sending = sending;
    this.#store = store;
    this.#membership = new TabMembership(asked);
  }

  /** Listens until what comes back is called. */
  run(): () => void {
    const { classNews, connection, hello, errors } = this.#store;
    const offs = [
      classNews.subscribe(() => this.#take()),
      connection.subscribe(() => {
        if (connection.get().state === 'open') return;
        this.#broke = this.away = true;
        clearTimeout(this.#retry);
        this.#sending.away();
      }),
      hello.subscribe(() => this.#greeted()),
      errors.subscribe(() => this.#complained(errors.get().at(-1))),
    ];
    return () => {
      this.stopSending();
      clearTimeout(this.#retry);
      for (const off of offs) off();
    };
  }

  start(lesson: string, title: string): void {
    this.#enter({ how: 'start', code: '' }, { type: 'class_start', lesson, title });
  }

  /** By a code and a nickname; who was in this class before comes back as who he was. */
  join(code: string, nickname: string): void {
    const known = this.#membership.resume(code);
    if (known !== null) this.#comeBack(known);
    else this.#enter({ how: 'join', code }, { type: 'class_join', code, nickname });
  }

  leave(): void {
    this.#store.command({ type: 'class_leave' });
    leaveCurrent();
    this.#out();
  }

  /** Deletes what the class has of this member. */
  forgetMe(): void {
    this.#store.command({ type: 'class_forget' });
    this.#membership.end();
    this.#out();
  }

  /** The notice that the class has ended was read. */
  dismiss(): void {
    if (!isOpen(this.room.get())) this.#out();
  }

  #enter(entering: Entering, command: ClientMessage): void {
    this.refused.set('');
    this.entering.set(entering);
    this.#store.command(command);
  }

  #comeBack(membership: Membership): void {
    this.#enter({ how: 'back', code: membership.code }, comingBack(membership));
  }

  /** Once more in some seconds; what this page knows of its class stays. */
  #tryAgain(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      const { current } = this.#membership;
      if (current !== null && this.entering.get()?.how === 'back')
        this.#store.command(comingBack(current));
    }, tryAgainMs);
  }

  #greeted(): void {
    if (!this.#broke) return;
    this.#broke = false;
    this.unreported();
    const ended = this.room.get()?.facts?.open === false;
    const { current } = this.#membership;
    if (current !== null && !ended) this.#comeBack(current);
  }

  #take(): void {
    const message = this.#store.classNews.get();
    if (message === null) return;
    if (message.type === 'class_welcome') {
      this.away = false;
      this.entering.set(null);
      this.refused.set('');
      if (message.class_id !== this.room.get()?.classId) this.following.set(true);
      this.#sending.here(message.class_id);
      this.#membership.welcomed(message.secret);
    }
    if (message.type === 'class_answered') this.#sending.confirmed(message);
    const before = this.room.get();
    const room = reduceClass(before, message, performance.now());
    this.room.set(room);
    if (message.type !== 'class' || room === null || message.class_id !== room.classId) return;
    if (!message.open) return this.#membership.end(message.code);
    // Whoever drove and hands the wheel over follows from there on.
    if (before?.facts?.driving === true && !message.driving) this.following.set(true);
    this.#membership.confirm(message);
  }

  #complained(error: ErrorMessage | undefined): void {
    // A place was on its way when the look over the shoulder ended: nothing to be said.
    if (error?.code === 'unwatched') return this.#store.dismiss(error);
    if (error?.code === 'closed') this.#sending.refused();
    const entering = this.entering.get();
    if (entering === null || error === undefined || error.run != null) return;
    const passes = entering.how === 'back' && error.code === full;
    if (entering.how === 'back' && !passes && !gone.has(error.code)) return;
    this.refused.set(sentenceOf(error));
    this.#store.dismiss(error);
    if (passes) return this.#tryAgain();
    this.entering.set(null);
    if (entering.how !== 'back') return;
    this.#membership.end(entering.code);
    this.#out();
  }

  #out(): void {
    this.#membership.clear();
    this.unreported();
    this.stopSending();
    this.#sending.forget();
    this.setAside(null);
    this.room.set(null);
  }
}

/** The terminal writes errors in lower case after "error:". */
function sentenceOf({ sentence, remedy }: ErrorMessage): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)} ${remedy}`.trim();
}
