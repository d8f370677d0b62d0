// SPDX-License-Identifier: GPL-2.0-or-later
/** What a page knows about its class: a reducer of (state, message) -> state. Pure. */

import type { ServerMessage } from '../../protocol/messages.ts';

/** Messages about the class that this page is in. */
export type ClassMessage = Extract<ServerMessage, { type: 'class' | `class_${string}` }>;

export function ofClass(message: ServerMessage): message is ClassMessage {
  return message.type === 'class' || message.type.startsWith('class_');
}

// The class's board on a page: members' questions, the timer, and who observes whom. Pure.

type Of<T extends ClassMessage['type']> = Extract<ClassMessage, { type: T }>;
export type ClassRaised = Of<'class_raised'>;
export type Raised = ClassRaised['questions'][number];
export type ClassWatching = Of<'class_watching'>;
export type ClassWatched = Of<'class_watched'>;

/** A timer in this page's time (performance.now), ms. */
export interface Timer {
  readonly length: number;
  readonly ends: number;
}

interface Board {
  readonly raised: ClassRaised | null;
  /** The message about this member's own questions and votes, which only this member receives. */
  readonly own: Of<'class_own'> | null;
  readonly timer: Timer | null;
  /** For a member: whether the instructor observes this page. */
  readonly watched: ClassWatched | null;
  /** For the instructor: the member whose page the instructor observes. */
  readonly watching: ClassWatching | null;
  /** The observed member's position in the lesson, and this page's time when that position arrived. */
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

/** After a reconnect, drop state that may be outdated. The server sends the state again if it is still valid. */
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
      // The page's clock may be wrong, but the time left that a message states is right when the message arrives.
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

/** The fields of a class that decide which lesson position (step, run, moment) this page shows. */
interface WithBoard {
  readonly board: Board;
  readonly place: ClassPlace | null;
  readonly placeAt: number;
}

/** Whether this page of the instructor follows a member. */
export function watches(room: Pick<WithBoard, 'board'> | null): boolean {
  return room?.board.watching?.phase === 'watched';
}

/**
 * The lesson position that this page shows, and whose position it is: the leader's, a member's, or the instructor's
 * own.
 */
export interface Led {
  readonly by: 'driver' | 'member' | 'back';
  readonly place: ClassPlace | null;
  /** This page's time when the position arrived, ms. */
  readonly at: number;
}

/** @param aside the instructor's own position, to which this page returns; null if the page already shows it */
export function ledTo(room: WithBoard | null, aside: ClassPlace | null): Led {
  if (room !== null && watches(room))
    return { by: 'member', place: room.board.seen, at: room.board.seenAt };
  if (aside !== null) return { by: 'back', place: aside, at: performance.now() };
  return { by: 'driver', place: room?.place ?? null, at: room?.placeAt ?? 0 };
}

/** Number of questions that the instructor has neither answered nor hidden. */
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

/** A class that this page is in, or was in when the class ended. */
export interface Room {
  readonly classId: string;
  readonly part: 'instructor' | 'member';
  /** Id and name of this member; both are empty for the instructor. */
  readonly member: string;
  readonly name: string;
  /** The facts about the class; null until the server has sent them. */
  readonly facts: ClassFacts | null;
  readonly place: ClassPlace | null;
  /** This page's time when the position arrived, ms. */
  readonly placeAt: number;
  readonly roster: readonly RosterMember[];
  /** Questions, keyed by keyOf. */
  readonly questions: ReadonlyMap<string, ClassQuestion>;
  readonly tallies: ReadonlyMap<string, ClassTally>;
  /** This member's own answers, by answerKey. */
  readonly answers: ReadonlyMap<string, ClassAnswered>;
  readonly confusion: readonly ConfusionPoint[];
  readonly board: Board;
  /** Steps in which the instructor lets members try their own runs; null until the server has sent them. */
  readonly opened: ClassOpened | null;
  /** The attempts that this page may see. */
  readonly tries: readonly ClassTry[];
}

/** Key of a question: a prediction has a step and an id, a free poll only an id. */
export function keyOf({ step, question }: Pick<ClassQuestion, 'step' | 'question'>): string {
  return JSON.stringify([step, question]);
}

export function answerKey(of: Pick<ClassQuestion, 'step' | 'question'>, round: number): string {
  return JSON.stringify([of.step, of.question, round]);
}

/** Whether the class is still open and this page is in it. */
export function isOpen(room: Room | null): room is Room {
  return room !== null && room.facts?.open === true;
}

function welcomed(room: Room | null, message: Of<'class_welcome'>): Room {
  const { class_id: classId, part, member, name } = message;
  const known = room?.classId === classId && room.part === part && room.member === member;
  // The page of a member who returns keeps the known state.
  // The server sends the complete state again, with the newest message last.
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

/** @param nowMs this page's time, from which the moment of a playing leader is computed */
export function reduceClass(room: Room | null, message: ClassMessage, nowMs: number): Room | null {
  if (message.type === 'class_welcome') return welcomed(room, message);
  // Ignore messages that arrive after this page has left their class.
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
