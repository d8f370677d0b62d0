// SPDX-License-Identifier: GPL-2.0-or-later
/** Both sides of looking over a shoulder: a member's page shows its place, the instructor's leaves its own. */

import { useEffect } from 'react';
import { watches } from './board-state.ts';
import { drivenOf } from './driven.ts';
import { useRoom } from './hooks.tsx';
import type { PageNow } from './use-follow.ts';
import { usePlaces } from './use-places.ts';

/** Before useFollow: the instructor's own place is written down before the page leaves it. */
export function useShoulder(page: PageNow): void {
  const { classroom, room, open } = useRoom();
  const watched = open && room?.board.watched?.phase === 'watched';
  const send = watched && classroom !== null ? classroom.here.bind(classroom) : null;
  usePlaces(page, null, send, [room?.classId]);
  const leaves = open && watches(room);
  useEffect(() => {
    if (!leaves || classroom === null || classroom.aside.get() !== null) return;
    const now = page.ready && !page.veiled ? page.playback.now() : null;
    classroom.setAside({
      ...{ type: 'class_place', class_id: room?.classId ?? '', number: 0, age_s: 0, sent_ns: 0 },
      ...{ step: '', place: '', moment_ns: null, direction: 1, speed: null },
      ...drivenOf(page, now),
      spotlight: null,
      // It comes back to where it was, and stands there.
      mode: 'paused',
    });
  });
}
