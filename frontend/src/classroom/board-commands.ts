// SPDX-License-Identifier: GPL-2.0-or-later
/** Commands of the board: members' questions, the timer, looking over a shoulder, deleting a member. */

import { ClassCommands, type Command } from './commands.ts';

export class BoardCommands extends ClassCommands {
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
