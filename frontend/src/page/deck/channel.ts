// SPDX-License-Identifier: GPL-2.0-or-later
/** What the wall and the speaker's window say to each other: a channel of this browser, one for each lesson. */

import { type DeckAct, isDeckAct } from './moves.ts';

/** Where the deck stands. */
export interface DeckNews {
  readonly kind: 'at';
  readonly step: string;
  readonly press: number;
  /** What is computed from the events now; empty: nothing. */
  readonly sentence: string;
  /** The answer to the step's question, before the wall shows it; empty: there is none. */
  readonly answer: string;
  /** When the talk began, ms since 1970. */
  readonly since: number;
}

export type Message =
  | DeckNews
  | { readonly kind: 'hello' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'move'; readonly act: DeckAct };

/** What came over the channel; null: nothing that is known. */
export function readMessage(value: unknown): Message | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, act, step, press, sentence, answer, since } = value as Record<string, unknown>;
  if (kind === 'hello' || kind === 'restart') return { kind };
  if (kind === 'move') return isDeckAct(act) ? { kind, act } : null;
  if (kind !== 'at' || typeof step !== 'string' || typeof press !== 'number') return null;
  if (typeof sentence !== 'string' || typeof answer !== 'string') return null;
  return typeof since === 'number' ? { kind, step, press, sentence, answer, since } : null;
}

export interface Channel {
  readonly send: (message: Message) => void;
  readonly close: () => void;
}

/** A browser without BroadcastChannel has no speaker's window, and the deck goes on without. */
export function openChannel(slug: string, onMessage: (message: Message) => void): Channel {
  if (typeof BroadcastChannel === 'undefined') return { send: () => {}, close: () => {} };
  const channel = new BroadcastChannel(`duet.deck.${slug}`);
  channel.onmessage = ({ data }) => {
    const message = readMessage(data);
    if (message !== null) onMessage(message);
  };
  return { send: (message) => channel.postMessage(message), close: () => channel.close() };
}
