// SPDX-License-Identifier: GPL-2.0-or-later
/** Sends where this page is: as the driver of the class, or for the instructor who looks over the shoulder. */

import { watches } from './board-state.ts';
import type { Command } from './commands.ts';
import { ClassMember } from './member.ts';
import { Throttle } from './throttle.ts';

export type DrivenPlace = Command<'class_drive'>;

/** The server takes at most ten places a second. */
const driveEveryMs = 100;

export class Driving extends ClassMember {
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
