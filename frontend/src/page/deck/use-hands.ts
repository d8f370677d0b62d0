// SPDX-License-Identifier: GPL-2.0-or-later
/** How many of a class raised their hands for each choice; counted on the wall, and forgotten with the page. */

import { useEffect, useRef, useState } from 'react';

const none: readonly number[] = [];
/** A hall has no more. */
const most = 999;

/** The counts after one hand more or less for a choice. */
export function withHand(counts: readonly number[], choice: number, by: number): readonly number[] {
  const length = Math.max(counts.length, choice + 1);
  return Array.from({ length }, (_, i) =>
    i === choice ? Math.max(0, Math.min(most, (counts[i] ?? 0) + by)) : (counts[i] ?? 0),
  );
}

const asked = new Map<string, readonly number[]>();

/** Keys 1 to 9 add a hand for a choice while the question is on the wall. */
export function useHands(id: string, choices: number) {
  const [, again] = useState(0);
  const raise = (choice: number, by: number) => {
    asked.set(id, withHand(asked.get(id) ?? none, choice, by));
    again((n) => n + 1);
  };
  const latest = useRef(raise);
  latest.current = raise;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const choice = Number(event.key) - 1;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (Number.isInteger(choice) && choice >= 0 && choice < choices) latest.current(choice, 1);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [choices]);
  return { counts: asked.get(id) ?? none, raise };
}
