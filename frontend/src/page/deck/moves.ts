// SPDX-License-Identifier: GPL-2.0-or-later
/** What presses do to a deck: clickers send Page Up and Page Down, some of them arrows. Pure. */

const acts = ['next', 'back', 'first', 'last', 'notes', 'handout', 'toy'] as const;
export type DeckAct = (typeof acts)[number];

export function isDeckAct(value: unknown): value is DeckAct {
  return acts.some((act) => act === value);
}

const keys: Readonly<Record<string, DeckAct>> = {
  PageDown: 'next',
  ArrowRight: 'next',
  ArrowDown: 'next',
  PageUp: 'back',
  ArrowLeft: 'back',
  ArrowUp: 'back',
  Home: 'first',
  End: 'last',
  s: 'notes',
  h: 'handout',
  y: 'toy',
};

const fields = 'input:not([type="checkbox"]), select, textarea, [role="dialog"], [contenteditable]';
const clicker: ReadonlySet<string> = new Set(['PageDown', 'PageUp']);

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly target: EventTarget | null;
}

/** What a key means to a deck; null: nothing, or it is a field's own. */
export function deckAct(event: Pressed): DeckAct | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(fields)) return null;
  // A clicker goes on whatever was touched last.
  if (target?.closest('.toy') && !clicker.has(event.key)) return null;
  return keys[event.key] ?? null;
}

/** The stop after a press; at both ends it stays. */
export function moved(at: number, act: DeckAct, stops: number): number {
  const last = Math.max(0, stops - 1);
  if (act === 'next') return Math.min(last, at + 1);
  if (act === 'back') return Math.max(0, at - 1);
  if (act === 'first') return 0;
  return act === 'last' ? last : at;
}
