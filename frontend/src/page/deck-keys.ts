// SPDX-License-Identifier: GPL-2.0-or-later
/** In a frame the bare page has the keys as soon as it is clicked on: those that it does not use go to the deck. */

import { type DeckKey, type FrameMessage, isDeckKey, tag } from '../component/frame-messages.ts';

const typed = 'textarea, select, input:not([type="range"]), [role="dialog"], [contenteditable]';
/** What presses of the space bar and of arrows mean something to. */
const pressed = 'button, a, summary, input';
const scrolling: ReadonlySet<DeckKey> = new Set(['Home', 'End', 'ArrowUp', 'ArrowDown', ' ']);

/** The key if it is the deck's; null: the page or the browser uses it here. */
function deckKeyOf(event: KeyboardEvent): DeckKey | null {
  const { key, target, defaultPrevented } = event;
  if (!isDeckKey(key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
    return null;
  const at = target instanceof Element ? target : null;
  if (at?.closest(typed)) return null;
  // It lets go of what is selected, and of the keys.
  if (key === 'Escape') return key;
  if (defaultPrevented) return null;
  // Clickers send these two; a scrubber can do without them.
  if (key === 'PageUp' || key === 'PageDown') return key;
  if (at?.closest(pressed)) return null;
  const { scrollHeight, clientHeight } = document.documentElement;
  return scrolling.has(key) && scrollHeight > clientHeight ? null : key;
}

/** Passes keys on to the page that frames this one. Returns what ends it. */
export function passKeys(): () => void {
  const held = new Set<DeckKey>();
  const say = (act: 'keydown' | 'keyup', key: DeckKey) => {
    const message: FrameMessage = { kind: tag, act, key };
    parent.postMessage(message, '*');
  };
  const down = (event: KeyboardEvent) => {
    const key = deckKeyOf(event);
    if (key === null) return;
    event.preventDefault();
    held.add(key);
    say('keydown', key);
  };
  const up = ({ key }: KeyboardEvent) => {
    if (isDeckKey(key) && held.delete(key)) say('keyup', key);
  };
  addEventListener('keydown', down);
  addEventListener('keyup', up);
  return () => {
    removeEventListener('keydown', down);
    removeEventListener('keyup', up);
  };
}
