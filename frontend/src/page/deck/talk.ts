// SPDX-License-Identifier: GPL-2.0-or-later
/** When a talk or a class began, ms: one clock for a lesson, whether its page or its slides are on show. */

import { useSyncExternalStore } from 'react';
import { Cell } from '../../base/signal.ts';

const begun = new Map<string, Cell<number>>();

/** The clock of a lesson; it begins at `since` unless it runs. */
export function clockOf(slug: string, since: number): Cell<number> {
  let clock = begun.get(slug);
  if (clock === undefined) {
    clock = new Cell(since);
    begun.set(slug, clock);
  }
  return clock;
}

/** When it began, and how it is restarted. */
export function useTalk(slug: string, since: number): readonly [number, () => void] {
  const clock = clockOf(slug, since);
  const began = useSyncExternalStore(clock.subscribe, clock.get);
  return [began, () => clock.set(Date.now())];
}
