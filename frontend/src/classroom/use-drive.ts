// SPDX-License-Identifier: GPL-2.0-or-later
/** A driver's page sends its place to the class. */

import { useRoom } from './hooks.tsx';
import type { Spot } from './spot.ts';
import type { PageNow } from './use-follow.ts';
import { usePlaces } from './use-places.ts';

export function useDrive(page: PageNow, spotlight: Spot | null): void {
  const { classroom, room, driving, entering } = useRoom();
  const send = driving && classroom !== null ? classroom.drive.bind(classroom) : null;
  usePlaces(page, spotlight, send, [room?.classId, entering]);
}
