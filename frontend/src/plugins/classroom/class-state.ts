// SPDX-License-Identifier: GPL-2.0-or-later
/** What a page knows of the class that it is in, as one reducer: a message goes in, the next state comes out. Pure. */

import type { ServerMessage } from '../../protocol/messages.ts';

/** What is said of a class that this page is in. */
export type ClassMessage = Extract<ServerMessage, { type: 'class' | `class_${string}` }>;

export function ofClass(message: ServerMessage): message is ClassMessage {
  return message.type === 'class' || message.type.startsWith('class_');
}

// The board of a class as a page has it: members' questions, the timer, who looks over whose shoulder. Pure.

type Of<T extends ClassMessage['type']> = Extract<ClassMessage, { type: T }>;
export type ClassRaised = Of<'class_raised'>;
export type Raised = ClassRaised['questions'][number];
export type ClassWatching = Of<'class_watching'>;
export type ClassWatched = Of<'class_watched'>;

/** A timer by the clock of this page, ms. */
export interface Timer {
  readonly length: number;
  readonly ends: number;
}

interface Board {
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

const emptyBoard: Board = {
  raised: null,
  own: null,
  timer: null,
  watched: null,
  watching: null,
  seen: null,
  seenAt: 0,
};

/** After a break: what the server does not send again has ended meanwhile. */
function boardAgain(board: Board): Board {
  return { ...board, timer: null, watching: null, seen: null };
}

export type BoardMessage = Of<
  'class_raised' | 'class_own' | 'class_timer' | 'class_watched' | 'class_watching' | 'class_seen'
>;

function reduceBoard(board: Board, message: BoardMessage, nowMs: number): Board {
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

/** What of a class its board needs. */
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

export type ClassFacts = Of<'class'>;
export type ClassPlace = Of<'class_place'>;
export type ClassQuestion = Of<'class_question'>;
export type ClassTally = Of<'class_tally'>;
export type ClassAnswered = Of<'class_answered'>;
export type RosterMember = Of<'class_roster'>['members'][number];
export type ConfusionPoint = Of<'class_confusion'>['points'][number];
export type ClassOpened = Of<'class_opened'>;
export type ClassTry = Of<'class_tries'>['tries'][number];
export type TallyRound = ClassTally['rounds'][number];

/** A class that this page is in, or was in when it ended. */
export interface Room {
  readonly classId: string;
  readonly part: 'instructor' | 'member';
  /** Id and name of this member; both empty: the instructor. */
  readonly member: string;
  readonly name: string;
  /** Null until the server has described it. */
  readonly facts: ClassFacts | null;
  readonly place: ClassPlace | null;
  /** The page's time when that place came, ms. */
  readonly placeAt: number;
  readonly roster: readonly RosterMember[];
  /** By keyOf. */
  readonly questions: ReadonlyMap<string, ClassQuestion>;
  readonly tallies: ReadonlyMap<string, ClassTally>;
  /** This member's own, by answerKey. */
  readonly answers: ReadonlyMap<string, ClassAnswered>;
  readonly confusion: readonly ConfusionPoint[];
  readonly board: Board;
  /** Where the class may try; null: the server has not said yet. */
  readonly opened: ClassOpened | null;
  /** What was tried, as far as this page may see it. */
  readonly tries: readonly ClassTry[];
}

/** What names a question: a prediction by its step and id, a free poll by its id alone. */
export function keyOf({ step, question }: Pick<ClassQuestion, 'step' | 'question'>): string {
  return JSON.stringify([step, question]);
}

export function answerKey(of: Pick<ClassQuestion, 'step' | 'question'>, round: number): string {
  return JSON.stringify([of.step, of.question, round]);
}

/** It goes on, and this page is in it. */
export function isOpen(room: Room | null): room is Room {
  return room !== null && room.facts?.open === true;
}

function welcomed(room: Room | null, message: Of<'class_welcome'>): Room {
  const { class_id: classId, part, member, name } = message;
  const known = room?.classId === classId && room.part === part && room.member === member;
  // Who comes back keeps what he has: the server sends it again, newest last.
  if (known) return { ...room, name, board: boardAgain(room.board) };
  return {
    ...{ classId, part, member, name },
    facts: null,
    place: null,
    placeAt: 0,
    roster: [],
    questions: new Map(),
    tallies: new Map(),
    answers: new Map(),
    confusion: [],
    board: emptyBoard,
    opened: null,
    tries: [],
  };
}

/** @param nowMs the page's time, for places whose driver plays */
export function reduceClass(room: Room | null, message: ClassMessage, nowMs: number): Room | null {
  if (message.type === 'class_welcome') return welcomed(room, message);
  // What was on its way when this page left is of no class of its own.
  if (room === null || message.class_id !== room.classId) return room;
  switch (message.type) {
    case 'class':
      return { ...room, facts: message, part: message.part };
    case 'class_place':
      if (room.place !== null && message.number < room.place.number) return room;
      return { ...room, place: message, placeAt: nowMs };
    case 'class_roster':
      return { ...room, roster: message.members };
    case 'class_question':
      return { ...room, questions: new Map(room.questions).set(keyOf(message), message) };
    case 'class_tally':
      return { ...room, tallies: new Map(room.tallies).set(keyOf(message), message) };
    case 'class_answered': {
      const key = answerKey(message, message.round);
      return { ...room, answers: new Map(room.answers).set(key, message) };
    }
    case 'class_confusion':
      return { ...room, confusion: message.points };
    case 'class_opened':
      return { ...room, opened: message };
    case 'class_tries':
      return { ...room, tries: message.tries };
    default:
      return { ...room, board: reduceBoard(room.board, message, nowMs) };
  }
}
