// SPDX-License-Identifier: GPL-2.0-or-later
/** The class that this tab belongs to, as stored in the browser and confirmed by the server. */

import type { ClientMessage } from '../../protocol/messages.ts';
import type { ClassMessage, ClassPlace } from './class-state.ts';

// Class data in a browser: memberships in classes (localStorage), and this tab's class (sessionStorage).
// Where storage is forbidden or full, a reload forgets the class, but everything else works.

/** What a page needs to rejoin a class. */
export interface Membership {
  readonly classId: string;
  readonly code: string;
  readonly part: 'instructor' | 'member';
  /** The member's secret; empty for the instructor. */
  readonly secret: string;
}

/** The command that rejoins a class. */
export function comingBack({ part, classId, code, secret }: Membership): ClientMessage {
  if (part === 'instructor') return { type: 'class_resume', class_id: classId };
  return { type: 'class_join', code, secret };
}

/** Reduce a code to its letters, so that case, spaces and hyphens do not matter. */
export function plainCode(code: string): string {
  return code.toLowerCase().replace(/[^a-z]/g, '');
}

/** Storage key of the instructor's position in the lesson before this tab observed a member. */
const aside = 'duet.class.aside';
const prefix = 'duet.class.';
const current = 'duet.class';

/** The class code in an address; null if there is none. */
export function codeIn(search: string): string | null {
  const code = new URLSearchParams(search).get('class')?.trim().slice(0, 64) ?? '';
  return plainCode(code) === '' ? null : code;
}

/** Run `act`; return `otherwise` if it throws. Even accessing a page's storage may throw. */
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

/** The membership in the class that this tab was in before a reload. */
function currentMembership(): Membership | null {
  const code = attempt(() => sessionStorage.getItem(current), null);
  return code === null ? null : membershipOf(code);
}

/** Remove this tab from its class. The membership is kept, so the tab can rejoin with the code. */
export function leaveCurrent(): void {
  attempt(() => sessionStorage.removeItem(current), undefined);
}

/** Delete a membership: the class has ended, or has deleted this member. */
function forget(code: string): void {
  leaveCurrent();
  attempt(() => localStorage.removeItem(prefix + plainCode(code)), undefined);
}

/**
 * Store the instructor's own position across a reload. A page that shows a member's position must not lead the class
 * there.
 */
export function rememberAside(place: ClassPlace | null): void {
  attempt(() => {
    if (place === null) sessionStorage.removeItem(aside);
    else sessionStorage.setItem(aside, JSON.stringify(place));
  }, undefined);
}

export function asideOf(): ClassPlace | null {
  const text = attempt(() => sessionStorage.getItem(aside), null);
  // Only this page writes the entry, so the entry needs no check.
  return attempt(() => JSON.parse(text ?? 'null') as ClassPlace | null, null);
}

type ClassFacts = Extract<ClassMessage, { type: 'class' }>;

export class TabMembership {
  #current: Membership | null;
  /** The secret from the server's welcome, kept until the class itself is known. */
  #secret = '';

  /** @param asked the class code in the address; if null, the class from before a reload is used */
  constructor(asked: string | null) {
    this.#current = asked === null ? currentMembership() : membershipOf(asked);
  }

  get current(): Membership | null {
    return this.#current;
  }

  /** Use a stored membership, or return null if this browser has never been in that class. */
  resume(code: string): Membership | null {
    const known = membershipOf(code);
    if (known !== null) this.#current = known;
    return known;
  }

  welcomed(secret: string): void {
    this.#secret = secret;
  }

  /** Store the membership with the details that the server sent. */
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

  /** This tab is no longer in a class. */
  clear(): void {
    this.#current = null;
    this.#secret = '';
  }
}
