// SPDX-License-Identifier: GPL-2.0-or-later
/** Which inode is enlarged: the one of the mark that was chosen, or the one that is used again most often. */

import type { LaneIndex } from '../../derive/types.ts';
import type { Drawing } from '../contract.ts';
import type { Lives } from './lives.ts';
import { never } from './lives.ts';

interface Fact {
  readonly lane: LaneIndex;
  readonly lives: Lives;
}

const inodeMarks: ReadonlySet<string> = new Set([
  'alive',
  'queued',
  'free',
  'shadow',
  'early',
  'reuse',
]);

export function heroOf({ index, frame }: Drawing, facts: readonly Fact[]): number | null {
  const { selection } = frame;
  const kind = selection === null ? undefined : index.kinds[selection.kind]?.name;
  if (selection !== null && kind !== undefined && inodeMarks.has(kind)) return selection.row;
  return commonest(facts.map((fact) => fact.lives));
}

/** Of inodes that come back equally often, one that does so early; then the lowest. */
const tieBreak = 1e-4;

/** Asked for at every frame, and the same as long as no life is added: by the first lane, then by all of them. */
const cached = new WeakMap<
  Lives,
  { readonly lanes: readonly Lives[]; readonly ino: number | null }[]
>();

/** The inode that comes back on every lane, most often where it does so least. */
export function commonest(lanes: readonly Lives[]): number | null {
  const first = lanes[0];
  if (first === undefined) return null;
  const known = cached.get(first) ?? [];
  const same = known.find(
    (one) => one.lanes.length === lanes.length && lanes.every((l, i) => l === one.lanes[i]),
  );
  if (same !== undefined) return same.ino;
  const ino = search(first, lanes);
  cached.set(first, [...known.slice(-3), { lanes, ino }]);
  return ino;
}

function search(first: Lives, lanes: readonly Lives[]): number | null {
  let best: { ino: number; times: number } | null = null;
  for (const ino of first.inos) {
    const often = Math.min(...lanes.map((lives) => returns(lives, ino)));
    const early = (first.byIno.get(ino) ?? []).filter((life) => life.early).length;
    const times = often + early * tieBreak;
    if (best === null || times > best.times) best = { ino, times };
  }
  return best?.ino ?? null;
}

function returns(lives: Lives, ino: number): number {
  return (lives.byIno.get(ino) ?? []).filter((life) => life.next < never).length;
}
