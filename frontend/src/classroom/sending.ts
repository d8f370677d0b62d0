// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What this page says in its class goes out once the class has it. What is said during a break waits until it is back, and
 * an answer that was not confirmed is given again then: its server may have died with it.
 */

import type { ClientMessage } from '../protocol/messages.ts';
import { answerKey } from './class-state.ts';

type Send = (message: ClientMessage) => void;
type Answered = Parameters<typeof answerKey>[0] & { readonly round: number };

/** Of what a person says during a break; where the page is, is reported anew. */
const mostWaiting = 8;

export class Sending {
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
