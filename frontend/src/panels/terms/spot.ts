// SPDX-License-Identifier: GPL-2.0-or-later
/** Where a card stands: below its word or above it, inside the window, never over the word. */

export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Spot {
  readonly left: number;
  readonly top: number;
  /** It scrolls where neither side has room for all of it. */
  readonly height: number;
}

const gap = 7;
const edge = 8;

/** All lengths in CSS pixels; `view` is the window. */
export function spotOf(
  word: Rect,
  card: { readonly width: number; readonly height: number },
  view: { readonly width: number; readonly height: number },
): Spot {
  const left = Math.max(edge, Math.min(word.left, view.width - edge - card.width));
  const below = view.height - edge - (word.bottom + gap);
  const above = word.top - gap - edge;
  const under = below >= card.height || below >= above;
  const height = Math.max(0, Math.min(card.height, under ? below : above));
  return { left, top: under ? word.bottom + gap : word.top - gap - height, height };
}
