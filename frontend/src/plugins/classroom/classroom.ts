// SPDX-License-Identifier: GPL-2.0-or-later
/** Receives messages of this page's class, sends commands, and rejoins the class after a lost connection. */

import { Cell } from '../../base/signal.ts';
import type { Place } from '../../navigation/place.ts';
import type { ClientMessage, ErrorMessage } from '../../protocol/messages.ts';
import type { Cells } from '../../store/store.ts';
import {
  answerKey,
  type ClassPlace,
  isOpen,
  ofClass,
  type Room,
  reduceClass,
  watches,
} from './class-state.ts';
import {
  asideOf,
  comingBack,
  leaveCurrent,
  type Membership,
  rememberAside,
  TabMembership,
} from './membership.ts';

// Commands that a page of a class sends to the server unchanged.

export type Command<T extends ClientMessage['type']> = Omit<
  Extract<ClientMessage, { type: T }>,
  'type'
>;

class ClassCommands {
  protected readonly send: (message: ClientMessage) => void;

  constructor(send: (message: ClientMessage) => void) {
    this.send = send;
  }

  /** Hand control to a member, or if the id is empty, back to the instructor. */
  hand(member: string): void {
    this.send({ type: 'class_hand', member });
  }

  ask(question: Command<'class_ask'>): void {
    this.send({ type: 'class_ask', ...question });
  }

  answer(answer: Command<'class_answer'>): void {
    this.send({ type: 'class_answer', ...answer });
  }

  reveal(question: Command<'class_reveal'>): void {
    this.send({ type: 'class_reveal', ...question });
  }

  confused(): void {
    this.send({ type: 'class_confused' });
  }

  /** Allow or forbid members to try their own runs in a step. */
  openStep(step: Command<'class_open_step'>): void {
    this.send({ type: 'class_open_step', ...step });
  }

  showGallery(shown: boolean): void {
    this.send({ type: 'class_show_gallery', shown });
  }

  attempt(run: Command<'class_try'>): void {
    this.send({ type: 'class_try', ...run });
  }

  takeBack(number: number): void {
    this.send({ type: 'class_take_back', number });
  }

  end(): void {
    this.send({ type: 'class_end' });
  }
}

// Commands of the board: members' questions, the timer, observing a member, deleting a member.

class BoardCommands extends ClassCommands {
  /** A question that this member has typed but not sent; it is kept when the panel closes. */
  draft = '';

  raise(text: string, step: string): void {
    this.send({ type: 'class_raise', text, step });
  }

  upvote(number: number, on: boolean): void {
    this.send({ type: 'class_upvote', number, on });
  }

  settle(question: Command<'class_settle'>): void {
    this.send({ type: 'class_settle', ...question });
  }

  showRaised(shown: boolean): void {
    this.send({ type: 'class_show_raised', shown });
  }

  countDown(act: Command<'class_count_down'>['act'], seconds = 60): void {
    this.send({ type: 'class_count_down', act, seconds });
  }

  /** Observe a member's page; an empty id stops observing. */
  watch(member: string): void {
    this.send({ type: 'class_watch', member });
  }

  consent(allowed: boolean): void {
    this.send({ type: 'class_consent', allowed });
  }

  remove(member: string): void {
    this.send({ type: 'class_remove', member });
  }
}

// The class of a page, and whether the page follows the class's leader.

class ClassMember extends BoardCommands {
  readonly room = new Cell<Room | null>(null);
  /** Whether this member follows the leader. If not, the member explores alone. */
  readonly following = new Cell(true);
  /**
   * The instructor's own position in the lesson. It is kept while this page observes a member, until the page has
   * returned.
   */
  readonly aside = new Cell<ClassPlace | null>(asideOf());
  /** Whether this page is not in the class on the server: it has not joined yet, or the connection was lost. */
  protected away = true;
  #reported = '';

  /** Report to the roster whether this member follows and which step they see; sent only on a change. */
  report(step: string): void {
    const room = this.room.get();
    if (!isOpen(room) || room.part !== 'member') return;
    const report = JSON.stringify([room.classId, this.following.get(), step]);
    if (report === this.#reported || this.away) return;
    this.#reported = report;
    this.send({ type: 'class_follow', following: this.following.get(), step });
  }

  detach(): void {
    if (this.isFollowing()) this.following.set(false);
  }

  /** An instructor who observes a member returns to their own position in the lesson. */
  followAgain(): void {
    if (this.room.get()?.board.watching?.phase === 'watched') this.watch('');
    this.following.set(true);
  }

  setAside(place: ClassPlace | null): void {
    this.aside.set(place);
    rememberAside(place);
  }

  isFollowing(): boolean {
    const room = this.room.get();
    return isOpen(room) && room.facts?.driving === false && this.following.get();
  }

  /** The server has lost the reported state, so the next report must be sent. */
  protected unreported(): void {
    this.#reported = '';
  }
}

// Makes at most one call per `everyMs`, but always makes the last call.

class Throttle {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #last: (() => void) | null = null;
  readonly #everyMs: number;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  call(act: () => void): void {
    if (this.#timer !== null) {
      this.#last = act;
      return;
    }
    act();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const last = this.#last;
      this.#last = null;
      if (last !== null) this.call(last);
    }, this.#everyMs);
  }

  /** Drop the pending call. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#last = null;
  }
}

// Sends this page's position in the lesson. The class receives the leader's position.
// The instructor receives the position of the member whom the instructor observes.

export type DrivenPlace = Command<'class_drive'>;

/** The server accepts at most ten positions per second from a page. */
const driveEveryMs = 100;

class Driving extends ClassMember {
  readonly #driving = new Throttle(driveEveryMs);
  readonly #showing = new Throttle(driveEveryMs);

  /**
   * Send the leader's position in the lesson. `read` is called at the time of sending, so that a moving moment is
   * current.
   */
  drive(read: () => DrivenPlace | null): void {
    this.#driving.call(() => {
      // While this page shows a member's position, or returns from it, this page does not lead the class.
      const elsewhere = this.aside.get() !== null || watches(this.room.get());
      const place = this.away || elsewhere ? null : read();
      if (place !== null && this.room.get()?.facts?.driving === true)
        this.send({ type: 'class_drive', ...place });
    });
  }

  /** Send this member's position in the lesson to the instructor who observes the member. */
  here(read: () => DrivenPlace): void {
    this.#showing.call(() => {
      if (this.away || this.room.get()?.board.watched?.phase !== 'watched') return;
      const { spotlight: _, ...place } = read();
      this.send({ type: 'class_here', ...place });
    });
  }

  /** Drop positions that are due but not sent. */
  protected stopSending(): void {
    this.#driving.cancel();
    this.#showing.cancel();
  }
}

// Commands to the class are sent once the server has confirmed that this page is in the class.
// While the connection is lost, commands wait until the page has rejoined the class.
// After rejoining, unconfirmed answers are sent again, because the server may have crashed before it stored them.

type Send = (message: ClientMessage) => void;
type Answered = Parameters<typeof answerKey>[0] & { readonly round: number };

/**
 * Maximum number of commands that wait for a connection. The page's position does not wait, because it is sent again
 * after the reconnect.
 */
const mostWaiting = 8;

class Sending {
  readonly #send: Send;
  #here = false;
  #classId = '';
  #waiting: ClientMessage[] = [];
  /** The newest answer of each round, kept until the server confirms the answer. Keys come from answerKey(). */
  readonly #unconfirmed = new Map<string, ClientMessage>();

  constructor(send: Send) {
    this.#send = send;
  }

  say(message: ClientMessage): void {
    const answers = message.type === 'class_answer';
    if (answers) {
      const { step = '', question, round = 1 } = message;
      this.#unconfirmed.set(answerKey({ step, question }, round), message);
    }
    if (this.#here) this.#send(message);
    else if (!answers && this.#waiting.length < mostWaiting) this.#waiting.push(message);
  }

  confirmed(answer: Answered): void {
    this.#unconfirmed.delete(answerKey(answer, answer.round));
  }

  /** The question is closed, so unconfirmed answers are dropped. */
  refused(): void {
    this.#unconfirmed.clear();
  }

  /** The page has joined this class, or rejoined it. */
  here(classId: string): void {
    if (classId !== this.#classId) this.forget();
    this.#classId = classId;
    this.#here = true;
    const due = [...this.#unconfirmed.values(), ...this.#waiting];
    this.#waiting = [];
    for (const message of due) this.#send(message);
  }

  away(): void {
    this.#here = false;
  }

  /** Drop all commands: they were for a class that this page has left. */
  forget(): void {
    this.#here = false;
    this.#waiting = [];
    this.#unconfirmed.clear();
  }
}

/** Error codes after which this page cannot rejoin its class. */
const gone: ReadonlySet<string> = new Set(['no-class', 'nickname']);
/** Code of a temporary error: the server has no room for the class at the moment. */
const full = 'full';
const tryAgainMs = 5000;

/** How this page is entering a class, while it waits for the server. */
export interface Entering {
  readonly how: 'start' | 'join' | 'back';
  readonly code: string;
}

type Store = Pick<Cells, 'news' | 'connection' | 'hello' | 'errors' | 'dismiss'> & {
  readonly command: (message: ClientMessage) => void;
};

export class Classroom extends Driving {
  readonly entering = new Cell<Entering | null>(null);
  /** Why the last attempt to start or join a class failed; empty if it succeeded. */
  readonly refused = new Cell('');
  /** The instructor's position in the lesson before they showed a run to the class; null if they show no run. */
  readonly before = new Cell<Place | null>(null);
  readonly #store: Store;
  readonly #sending: Sending;
  readonly #membership: TabMembership;
  /** Whether the connection was lost and the server has not sent a new greeting yet. */
  #broke = true;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** @param asked the class code in the address; if null, the class from before a reload is used */
  constructor(store: Store, asked: string | null = null) {
    const sending = new Sending(store.command);
    super((message) => sending.say(message));
    this.#sending = sending;
    this.#store = store;
    this.#membership = new TabMembership(asked);
  }

  /** Start listening to the server, and return a function that stops listening. */
  run(): () => void {
    const { news, connection, hello, errors } = this.#store;
    const offs = [
      news.subscribe(() => this.#take()),
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

  /** Join with a code and a nickname. A member who was in this class before returns under the same identity. */
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

  /** Delete what the class has stored about this member. */
  forgetMe(): void {
    this.#store.command({ type: 'class_forget' });
    this.#membership.end();
    this.#out();
  }

  /** Leave the class after the viewer has read that it has ended. */
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

  /** Try to rejoin again in a few seconds; the page keeps what it knows about its class. */
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
    const message = this.#store.news.get();
    if (message === null || !ofClass(message)) return;
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
    // A leader who hands over control follows the new leader.
    if (before?.facts?.driving === true && !message.driving) this.following.set(true);
    this.#membership.confirm(message);
  }

  #complained(error: ErrorMessage | undefined): void {
    // This error means that the page sent its position just after the observation had ended. The viewer need not see
    // this error.
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

/** Capitalise the sentence: the terminal writes errors in lower case after "error:". */
function sentenceOf({ sentence, remedy }: ErrorMessage): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)} ${remedy}`.trim();
}
