// SPDX-License-Identifier: GPL-2.0-or-later
/** Reveals the points of an answer one by one. */

import { useEffect, useState } from 'react';

/** Time between two points of an answer, ms. */
const pointMs = 450;

/**
 * How many points of an answer are shown. After the guess they appear one by one; a page that opens with the guess, and
 * readers who prefer reduced motion, get all at once.
 */
export function useRevealed(points: number, guessed: boolean): number {
  const [calm] = useState(
    () => guessed || (globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? true),
  );
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (!guessed) setShown(0);
    if (!guessed || shown >= points) return undefined;
    const timer = setTimeout(() => setShown(shown + 1), pointMs);
    return () => clearTimeout(timer);
  }, [guessed, shown, points]);
  if (!guessed) return 0;
  return calm ? points : shown;
}
