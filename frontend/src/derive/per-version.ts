// SPDX-License-Identifier: GPL-2.0-or-later
/** What is found of a lane, until the index has another version. */

import type { LaneIndex, RunIndex } from './types.ts';

type Of<T> = (index: RunIndex, lane: LaneIndex) => T;

/** The length of a lane's table is no key: it may hold spans already that the index does not know. */
export function perVersion<T>(find: Of<T>): Of<T> {
  const known = new WeakMap<LaneIndex, { readonly version: number; readonly found: T }>();
  return (index, lane) => {
    const before = known.get(lane);
    if (before !== undefined && before.version === index.version) return before.found;
    const found = find(index, lane);
    known.set(lane, { version: index.version, found });
    return found;
  };
}
