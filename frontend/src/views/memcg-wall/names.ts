// SPDX-License-Identifier: GPL-2.0-or-later
/** What rows and columns are called. */

import { t as tr } from '../../base/lang/t.ts';
import type { LaneIndex, Nanos } from '../../derive/types.ts';
import { sampleAt } from '../../store/lane.ts';
import { rootRow } from './cells.ts';
import type { EventReplay } from './event-replay.ts';

/** "container 41", counted from 1 as who touches one does, "the containers' parent", "the root cgroup". */
export function memcgName(replay: EventReplay, row: number): string {
  if (row === rootRow) return tr('the root cgroup');
  const level = replay.grid.level[row];
  if (level === 1) return tr('the parent of the containers');
  if (level === 2) return tr('container {row}', { row: row - replay.grid.level.indexOf(2) + 1 });
  return tr('memcg {row}', { row: replay.grid.memcgs[row] ?? '?' });
}

/** "shrinker 73", with its name where the x-ray has read it. */
export function shrinkerName(lane: LaneIndex, id: number, t: Nanos): string {
  const sample = sampleAt(lane.samples('shrinker-list'), t);
  const { id: ids, aware } = sample?.columns ?? {};
  if (sample === null || ids === undefined || aware === undefined)
    return tr('shrinker {id}', { id });
  const at = ids.findIndex((one: number, i: number) => one === id && aware[i] !== 0);
  const name = sample.texts[at];
  return name === undefined
    ? tr('shrinker {id}', { id })
    : tr('shrinker {id} ({name})', { id, name });
}
