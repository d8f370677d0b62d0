// SPDX-License-Identifier: GPL-2.0-or-later
/** All that a lesson page does as a part of a class: it follows or drives, and has the spotlight. */

import type { RunIndex } from '../derive/types.ts';
import { useDrive } from './use-drive.ts';
import { type PageNow, useDetach, useFollow } from './use-follow.ts';
import { useShoulder } from './use-shoulder.ts';
import { useSpotlight } from './use-spotlight.ts';

export function useInClass(page: PageNow, index: RunIndex | null) {
  const spotlight = useSpotlight(index);
  useShoulder(page);
  useFollow(page);
  useDetach();
  useDrive(page, spotlight.spot);
  return spotlight;
}

export type InClass = ReturnType<typeof useInClass>;
