// SPDX-License-Identifier: GPL-2.0-or-later
/** The instructor shows a run of the class to all, and goes back to where he was. */

import { frontPage, type Place } from '../navigation/place.ts';
import { useRoom, useVisit } from './hooks.tsx';

export type ShownFrom = (to: Place) => void;

/** @param here where the instructor is now, and comes back to */
export function useShow(here: Place): ShownFrom {
  const { classroom, room, driving } = useRoom();
  const visit = useVisit();
  return (to) => {
    if (classroom === null) return;
    // The class follows who has the wheel.
    if (!driving && room?.part === 'instructor') classroom.hand('');
    classroom.before.set(classroom.before.get() ?? here);
    visit(to);
  };
}

/** Where the page was before a run was shown; without a memory of it the step. */
export function useBack(place: Place): () => void {
  const { classroom } = useRoom();
  const visit = useVisit();
  return () => {
    const { lesson, step } = place;
    const before = classroom?.before.get() ?? null;
    classroom?.before.set(null);
    visit(before ?? { ...frontPage, lesson, step });
  };
}
