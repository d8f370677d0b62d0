// SPDX-License-Identifier: GPL-2.0-or-later
/** The class of a page, and whether the page follows its driver. */

import { Cell } from '../base/signal.ts';
import { BoardCommands } from './board-commands.ts';
import { type ClassPlace, isOpen, type Room } from './class-state.ts';
import { asideOf, rememberAside } from './memory.ts';

export class ClassMember extends BoardCommands {
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
