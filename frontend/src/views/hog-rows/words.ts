// SPDX-License-Identifier: GPL-2.0-or-later
/** How many of the threads, in words. */

import { plural } from '../../base/units.ts';

/** "8 of 9 hogs", where a thread is called a hog. */
export function ofThreads(n: number, all: number, thread: string): string {
  if (all === 1) return `the one ${thread}`;
  return n === all ? `all ${plural(all, thread)}` : `${n} of ${plural(all, thread)}`;
}
