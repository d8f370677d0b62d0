// SPDX-License-Identifier: GPL-2.0-or-later
/** A driver's page sends its place to the class on each change, and now and then while it plays. */

import { useEffect, useRef } from 'react';
import { useConnection } from '../store/hooks.tsx';
import { drivenOf, sceneryPlace, sceneryText } from './driven.ts';
import { useRoom } from './hooks.tsx';
import type { Spot } from './spot.ts';
import type { PageNow } from './use-follow.ts';

/** A place that plays is sent again after so long: followers that have drifted come back. */
const againMs = 2000;

export function useDrive(page: PageNow, spotlight: Spot | null): void {
  const { classroom, room, driving, entering } = useRoom();
  const connection = useConnection();
  const latest = useRef({ page, spotlight });
  latest.current = { page, spotlight };
  /** How often the scope has begun its window anew. */
  const sweeps = useRef({ n: 0, moment: 0 });
  const { state } = page.playback;
  if (state.mode === 'scope' && state.moment < sweeps.current.moment) sweeps.current.n += 1;
  sweeps.current.moment = state.moment;

  const shown = page.ready && !page.veiled;
  const own = sceneryPlace(page);
  const { mode, direction, speed, alignment, operation, start, span, moment } = state;
  const still = mode === 'paused' ? moment : sweeps.current.n;
  const motion = [mode, direction, speed, alignment, operation, start, span, still];
  const key = JSON.stringify([
    ...[sceneryText(own, own), shown, shown ? motion : null, spotlight],
    ...[room?.classId, driving, connection.state, entering],
  ]);
  const moves = driving && shown && mode !== 'paused';
  useEffect(() => {
    if (!driving || classroom === null || key === '') return undefined;
    const send = () => classroom.drive(read);
    const read = () => {
      const { page: now, spotlight: spot } = latest.current;
      const seen = now.ready && !now.veiled;
      return { ...drivenOf(now, seen ? now.playback.now() : null), spotlight: spot };
    };
    send();
    if (!moves) return undefined;
    const timer = setInterval(() => {
      // A page that nobody sees does not speak over one that is seen.
      if (!document.hidden) send();
    }, againMs);
    return () => clearInterval(timer);
  }, [classroom, driving, key, moves]);
}
