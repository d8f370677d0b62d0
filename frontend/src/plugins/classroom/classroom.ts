// SPDX-License-Identifier: GPL-2.0-or-later
/** The class of this page: takes its messages, sends its commands, and comes back to it by itself after a break. */

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

// What a page of a class asks of the server, as it is.

export type Command<T extends ClientMessage['type']> = Omit<
  Extract<ClientMessage, { type: T }>,
  'type'
>;

class ClassCommands {
  protected readonly send: (message: ClientMessage) => void;

  constructor(send: (message: ClientMessage) => void) {
    this.send = send;
  }

  /** The wheel to a member; empty: back to the instructor. */
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

  /** The class may try in a step, or not any more. */
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

// Commands of the board: members' questions, the timer, looking over a shoulder, deleting a member.

class BoardCommands extends ClassCommands {
  /** What this member has typed and not sent; it outlasts the panel. */
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

  /** Over a member's shoulder; empty: over nobody's. */
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

// The class of a page, and whether the page follows its driver.

class ClassMember extends BoardCommands {
  readonly room = new Cell<Room | null>(null);
  /** A member follows the driver; else he explores. */
  readonly following = new Cell(true);
  /** The instructor's own place, while this page looks over a shoulder and until it is back there. */
  readonly aside = new Cell<ClassPlace | null>(asideOf());
  /** The server does not know (any more) that this page is in the class. */
  protected away = true;
  #reported = '';

  /** For the roster: whether this member follows, and the step that he sees; sent when it changes. */
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

  /** Who looks over a shoulder goes back to the own place. */
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

  /** The server does not know any more what was reported. */
  protected unreported(): void {
    this.#reported = '';
  }
}

// At most one call in so many milliseconds; the last one is always made.

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

  /** What waits is not called any more. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#last = null;
  }
}

// Sends where this page is: as the driver of the class, or for the instructor who looks over the shoulder.

export type DrivenPlace = Command<'class_drive'>;

/** The server takes at most ten places a second. */
const driveEveryMs = 100;

class Driving extends ClassMember {
  readonly #driving = new Throttle(driveEveryMs);
  readonly #showing = new Throttle(driveEveryMs);

  /** Where the driver is. `read` is called when it is sent, so that a moving moment is the newest. */
  drive(read: () => DrivenPlace | null): void {
    this.#driving.call(() => {
      // At a member's place, or on the way back from it, this page leads nobody.
      const elsewhere = this.aside.get() !== null || watches(this.room.get());
      const place = this.away || elsewhere ? null : read();
      if (place !== null && this.room.get()?.facts?.driving === true)
        this.send({ type: 'class_drive', ...place });
    });
  }

  /** Where this member is, for the instructor who looks over the shoulder. */
  here(read: () => DrivenPlace): void {
    this.#showing.call(() => {
      if (this.away || this.room.get()?.board.watched?.phase !== 'watched') return;
      const { spotlight: _, ...place } = read();
      this.send({ type: 'class_here', ...place });
    });
  }

  /** What is due is not sent any more. */
  protected stopSending(): void {
    this.#driving.cancel();
    this.#showing.cancel();
  }
}

// What this page says in its class goes out once the class has it. What is said during a break waits until it is back, and
// an answer that was not confirmed is given again then: its server may have died with it.

type Send = (message: ClientMessage) => void;
type Answered = Parameters<typeof answerKey>[0] & { readonly round: number };

/** Of what a person says during a break; where the page is, is reported anew. */
const mostWaiting = 8;

class Sending {
  readonly #send: Send;
  #here = false;
  #classId = '';
  #waiting: ClientMessage[] = [];
  /** By answerKey: the newest answer of each round, until the server has confirmed it. */
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

  /** No question takes such an answer any more. */
  refused(): void {
    this.#unconfirmed.clear();
  }

  /** The page is in this class (again). */
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

  /** What was said was for a class that this page is not in any more. */
  forget(): void {
    this.#here = false;
    this.#waiting = [];
    this.#unconfirmed.clear();
  }
}

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

type Store = Pick<Cells, 'news' | 'connection' | 'hello' | 'errors' | 'dismiss'> & {
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
