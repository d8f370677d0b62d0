// SPDX-License-Identifier: GPL-2.0-or-later
/** Messages between <kernel-duet> and the page in its frame. No message acts on a guest. */

export const tag = 'kernel-duet';

/** Keys that control a slide deck. Each key has its deprecated KeyboardEvent.keyCode, because decks still read it. */
export const deckKeys = {
  Escape: 27,
  ' ': 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
} as const;
export type DeckKey = keyof typeof deckKeys;

export function isDeckKey(key: unknown): key is DeckKey {
  return typeof key === 'string' && Object.hasOwn(deckKeys, key);
}

export type FrameMessage =
  | { readonly kind: typeof tag; readonly act: 'ready' | 'play' | 'pause' }
  | { readonly kind: typeof tag; readonly act: 'seek'; readonly at_ms: number }
  | { readonly kind: typeof tag; readonly act: 'keydown' | 'keyup'; readonly key: DeckKey };

const acts: readonly unknown[] = ['ready', 'play', 'pause'];

export function isFrameMessage(data: unknown): data is FrameMessage {
  if (typeof data !== 'object' || data === null) return false;
  const { kind, act, at_ms, key } = data as Record<string, unknown>;
  if (kind !== tag) return false;
  if (act === 'seek') return Number.isFinite(at_ms);
  if (act === 'keydown' || act === 'keyup') return isDeckKey(key);
  return acts.includes(act);
}
