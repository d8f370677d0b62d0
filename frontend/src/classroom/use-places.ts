// SPDX-License-Identifier: GPL-2.0-or-later
/** A page sends its place on each change, and now and then while it plays. */

import { useEffect, useRef } from 'react';
import { useConnection } from '../store/hooks.tsx';
import { drivenOf, sceneryPlace, sceneryText } from './driven.ts';
import type { DrivenPlace } from './driving.ts';
import type { Spot } from './spot.ts';
import type { PageNow } from './use-follow.ts';

/** A place that plays is sent again after so long: followers that have drifted come back. */
const againMs = 2000;

/**
 * @param send takes what reads the place when it is sent; null: this page sends none
 * @param about what has to send the place anew when it changes
 */
export function usePlaces(
  page: PageNow,
  spotlight: Spot | null,
  send: ((read: () => DrivenPlace) => void) | null,
  about: readonly unknown[],
): void {
  const connection = useConnection();
  const latest = useRef({ page, spotlight, send });
  latest.current = { page, spotlight, send };
  /** How often the scope has begun its window anew. */
  const sweeps = useRef({ n: 0, moment: 0 });
  const { state } = page.playback;
  if (state.mode === 'scope' && state.moment < sweeps.current.moment) sweeps.current.n += 1;
  sweeps.current.moment = state.moment;

  const sends = send !== null;
  const shown = page.ready && !page.veiled;
  const own = sceneryPlace(page);
  const { mode, direction, speed, alignment, operation, start, span, moment } = state;
  const still = mode === 'paused' ? moment : sweeps.current.n;
  const motion = [mode, direction, speed, alignment, operation, start, span, still];
  const key = JSON.stringify([
    ...[sceneryText(own, own), shown, shown ? motion : null, spotlight],
    ...[sends, connection.state, ...about],
  ]);
  const moves = sends && shown && mode !== 'paused';
  useEffect(() => {
    if (!sends || key === '') return undefined;
    const read = () => {
      const { page: now, spotlight: spot } = latest.current;
      const seen = now.ready && !now.veiled;
      return { ...drivenOf(now, seen ? now.playback.now() : null), spotlight: spot };
    };
    const act = () => latest.current.send?.(read);
    act();
    if (!moves) return undefined;
    const timer = setInterval(() => {
      // A page that nobody sees does not speak over one that is seen.
      if (!document.hidden) act();
    }, againMs);
    return () => clearInterval(timer);
  }, [sends, key, moves]);
}
