// SPDX-License-Identifier: GPL-2.0-or-later
/** The start time of a talk or class, ms. A lesson's page and its slides share one clock. */

import { useSyncExternalStore } from 'react';
import { Cell } from '../../base/signal.ts';

const begun = new Map<string, Cell<number>>();

/** The clock of a lesson. If the clock is not running yet, it starts at `since`. */
export function clockOf(slug: string, since: number): Cell<number> {
  let clock = begun.get(slug);
  if (clock === undefined) {
    clock = new Cell(since);
    begun.set(slug, clock);
  }
  return clock;
}

/** The start time, and a function that restarts the clock. */
export function useTalk(slug: string, since: number): readonly [number, () => void] {
  const clock = clockOf(slug, since);
  const began = useSyncExternalStore(clock.subscribe, clock.get);
  return [began, () => clock.set(Date.now())];
}
