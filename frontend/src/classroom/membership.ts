// SPDX-License-Identifier: GPL-2.0-or-later
/** The class that this tab belongs to, from the browser's store and from what its server says. */

import type { ClassMessage } from '../protocol/messages.ts';
import { currentMembership, forget, type Membership, membershipOf, remember } from './memory.ts';

type ClassFacts = Extract<ClassMessage, { type: 'class' }>;

export class TabMembership {
  #current: Membership | null;
  /** From the server's welcome, until the class itself is known. */
  #secret = '';

  /** @param asked the code of a class that the address asks for; null: the one of before a reload */
  constructor(asked: string | null) {
    this.#current = asked === null ? currentMembership() : membershipOf(asked);
  }

  get current(): Membership | null {
    return this.#current;
  }

  /** Takes up a membership of before; null: this browser has never been in that class. */
  resume(code: string): Membership | null {
    const known = membershipOf(code);
    if (known !== null) this.#current = known;
    return known;
  }

  welcomed(secret: string): void {
    this.#secret = secret;
  }

  /** Stores the membership as the class describes it. */
  confirm({ class_id: classId, code, part }: ClassFacts): void {
    const secret = this.#secret || (this.#current?.secret ?? '');
    this.#current = { classId, code, part, secret };
    remember(this.#current);
  }

  /** The class has ended, or has deleted this member. */
  end(code = this.#current?.code): void {
    if (code !== undefined) forget(code);
    this.#current = null;
  }

  /** The tab is in no class any more. */
  clear(): void {
    this.#current = null;
    this.#secret = '';
  }
}
