// SPDX-License-Identifier: GPL-2.0-or-later
/** What the page of two runs does as a part of a class: it follows or drives, as a lesson page does. */

import { useEffect } from 'react';
import type { Place } from '../navigation/place.ts';
import { requestedOf } from './driven.ts';
import { useRoom, useVisit } from './hooks.tsx';
import { useDrive } from './use-drive.ts';
import { type PageNow, useDetach, useFollow } from './use-follow.ts';

export function useInCompare(page: PageNow): void {
  useFollow(page);
  useDetach();
  useDrive(page, null);
}

/** Two runs that are still read, or cannot be: who follows goes on with the driver all the same. */
export function useFollowAway(place: Place): void {
  const { room, following } = useRoom();
  const visit = useVisit();
  const driver = room?.place ?? null;
  useEffect(() => {
    if (!following || driver === null || driver.lesson !== place.lesson) return;
    const wanted = requestedOf(driver, place);
    if (wanted.beside !== place.beside || wanted.run !== place.run) visit(wanted);
  }, [following, driver, place, visit]);
}
