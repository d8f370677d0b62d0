// SPDX-License-Identifier: GPL-2.0-or-later
/** What a page of a class asks of the server, as it is. */

import type { ClientMessage } from '../protocol/messages.ts';

export type Command<T extends ClientMessage['type']> = Omit<
  Extract<ClientMessage, { type: T }>,
  'type'
>;

export class ClassCommands {
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
