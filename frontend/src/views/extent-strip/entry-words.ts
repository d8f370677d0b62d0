// SPDX-License-Identifier: GPL-2.0-or-later
/** One visit in words: which block, what the entry is, and what the scan did with it. */

import { formatCount } from '../../base/units.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { letterOf } from './block-replay.ts';

const letters = ['of no known kind', 'delayed', 'written', 'a hole', 'unwritten'] as const;
const fates = ['kept', 'spared', 'freed'] as const;

export function entryWords({ points }: LaneIndex, i: number): string {
  const block = formatCount(points.b[i]!);
  return `block ${block}, ${letters[letterOf(points.d[i]!)]}, ${fates[points.e[i]!] ?? 'kept'}`;
}
