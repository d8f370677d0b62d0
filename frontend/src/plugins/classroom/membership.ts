// SPDX-License-Identifier: GPL-2.0-or-later
/** The class that this tab belongs to, from the browser's store and from what its server says. */

import type { ClientMessage } from '../../protocol/messages.ts';
import type { ClassMessage, ClassPlace } from './class-state.ts';

// What a browser stores of classes: the membership of each (localStorage), and which one this tab is in
// (sessionStorage). Where a store is forbidden or full, a reload forgets the class and the rest goes on.

/** How a page comes back to a class. */
export interface Membership {
  readonly classId: string;
  readonly code: string;
  readonly part: 'instructor' | 'member';
  /** Of the member; empty: the instructor. */
  readonly secret: string;
}

/** With what a page comes back. */
export function comingBack({ part, classId, code, secret }: Membership): ClientMessage {
  if (part === 'instructor') return { type: 'class_resume', class_id: classId };
  return { type: 'class_join', code, secret };
}

/** Codes are compared without case, spaces and hyphens. */
export function plainCode(code: string): string {
  return code.toLowerCase().replace(/[^a-z]/g, '');
}

/** Where the instructor was, before this tab looked over a shoulder. */
const aside = 'duet.class.aside';
const prefix = 'duet.class.';
const current = 'duet.class';

/** The code that an address asks to join; null: none. */
export function codeIn(search: string): string | null {
  const code = new URLSearchParams(search).get('class')?.trim().slice(0, 64) ?? '';
  return plainCode(code) === '' ? null : code;
}

/** Accessing the store of a page may throw by itself. */
function attempt<T>(act: () => T, otherwise: T): T {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

export function membershipOf(code: string): Membership | null {
  const text = attempt(() => localStorage.getItem(prefix + plainCode(code)), null);
  const value = attempt<unknown>(() => JSON.parse(text ?? 'null'), null);
  if (typeof value !== 'object' || value === null) return null;
  const { classId, code: full, part, secret } = value as Partial<Membership>;
  const texts = [classId, full, secret].every((one) => typeof one === 'string');
  return texts && (part === 'instructor' || part === 'member') ? (value as Membership) : null;
}

function remember(membership: Membership): void {
  attempt(() => {
    localStorage.setItem(prefix + plainCode(membership.code), JSON.stringify(membership));
    sessionStorage.setItem(current, membership.code);
  }, undefined);
}

/** The class that this tab was in before a reload. */
function currentMembership(): Membership | null {
  const code = attempt(() => sessionStorage.getItem(current), null);
  return code === null ? null : membershipOf(code);
}

/** This tab is in no class any more; it may come back by the code. */
export function leaveCurrent(): void {
  attempt(() => sessionStorage.removeItem(current), undefined);
}

/** The class is over, or has deleted this member. */
function forget(code: string): void {
  leaveCurrent();
  attempt(() => localStorage.removeItem(prefix + plainCode(code)), undefined);
}

/** Survives a reload: a page that is at a member's place leads nobody there. */
export function rememberAside(place: ClassPlace | null): void {
  attempt(() => {
    if (place === null) sessionStorage.removeItem(aside);
    else sessionStorage.setItem(aside, JSON.stringify(place));
  }, undefined);
}

export function asideOf(): ClassPlace | null {
  const text = attempt(() => sessionStorage.getItem(aside), null);
  // Only this page writes it.
  return attempt(() => JSON.parse(text ?? 'null') as ClassPlace | null, null);
}

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
