// SPDX-License-Identifier: GPL-2.0-or-later
/** The board of a class as a page has it: members' questions, the timer, who looks over whose shoulder. Pure. */

import type { ClassMessage } from '../protocol/messages.ts';

type Of<T extends ClassMessage['type']> = Extract<ClassMessage, { type: T }>;
type ClassPlace = Of<'class_place'>;
export type ClassRaised = Of<'class_raised'>;
export type Raised = ClassRaised['questions'][number];
export type ClassWatching = Of<'class_watching'>;
export type ClassWatched = Of<'class_watched'>;

/** A timer by the clock of this page, ms. */
export interface Timer {
  readonly length: number;
  readonly ends: number;
}

export interface Board {
  readonly raised: ClassRaised | null;
  /** Of this member alone. */
  readonly own: Of<'class_own'> | null;
  readonly timer: Timer | null;
  /** Of this member: whether the instructor looks over the shoulder. */
  readonly watched: ClassWatched | null;
  /** Of this page of the instructor: over whose shoulder it looks. */
  readonly watching: ClassWatching | null;
  /** Where the watched member is, and the page's time when that came. */
  readonly seen: ClassPlace | null;
  readonly seenAt: number;
}

export const emptyBoard: Board = {
  raised: null,
  own: null,
  timer: null,
  watched: null,
  watching: null,
  seen: null,
  seenAt: 0,
};

/** After a break: what the server does not send again has ended meanwhile. */
export function boardAgain(board: Board): Board {
  return { ...board, timer: null, watching: null, seen: null };
}

export type BoardMessage = Of<
  'class_raised' | 'class_own' | 'class_timer' | 'class_watched' | 'class_watching' | 'class_seen'
>;

export function reduceBoard(board: Board, message: BoardMessage, nowMs: number): Board {
  switch (message.type) {
    case 'class_raised':
      return { ...board, raised: message };
    case 'class_own':
      return { ...board, own: message };
    case 'class_timer': {
      const { length_s, ends_ns, sent_ns } = message;
      // The clock of the page may be wrong; what is left when the message comes is not.
      const left = ends_ns === null ? 0 : (ends_ns - sent_ns) / 1e6;
      const timer = ends_ns === null ? null : { length: length_s * 1000, ends: nowMs + left };
      return { ...board, timer };
    }
    case 'class_watched':
      return { ...board, watched: message };
    case 'class_watching': {
      const same = message.phase === 'watched' && message.member === board.watching?.member;
      return { ...board, watching: message, seen: same ? board.seen : null };
    }
    case 'class_seen': {
      const { member, ...place } = message;
      if (board.watching?.phase !== 'watched' || board.watching.member !== member) return board;
      if (board.seen !== null && message.number < board.seen.number) return board;
      return { ...board, seen: { ...place, type: 'class_place', spotlight: null }, seenAt: nowMs };
    }
  }
}

/** What of a class is needed here (class-state.ts). */
interface WithBoard {
  readonly board: Board;
  readonly place: ClassPlace | null;
  readonly placeAt: number;
}

/** This page of the instructor goes where a member is. */
export function watches(room: Pick<WithBoard, 'board'> | null): boolean {
  return room?.board.watching?.phase === 'watched';
}

/** Whose place a page that is led goes to. */
export interface Led {
  readonly by: 'driver' | 'member' | 'back';
  readonly place: ClassPlace | null;
  /** The page's time when it came, ms. */
  readonly at: number;
}

/** @param aside the instructor's own place, to which this page goes back; null: it is there */
export function ledTo(room: WithBoard | null, aside: ClassPlace | null): Led {
  if (room !== null && watches(room))
    return { by: 'member', place: room.board.seen, at: room.board.seenAt };
  if (aside !== null) return { by: 'back', place: aside, at: performance.now() };
  return { by: 'driver', place: room?.place ?? null, at: room?.placeAt ?? 0 };
}

/** Questions that the instructor has not answered, and has not set aside. */
export function waitingRaised(room: Pick<WithBoard, 'board'>): number {
  const all = room.board.raised?.questions ?? [];
  return all.filter(({ answered, hidden }) => !answered && !hidden).length;
}
