// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Scans of one file's entries on three kernels: which entries a scan looks at, which it frees, and where it stops. Pure.
 *
 * es_do_reclaim_extents() and es_reclaim_extents() in fs/ext4/extents_status.c of 6.1, and the patches of this lesson.
 * No scan looks into a file that has nothing to free (i_es_shk_nr). Stock pays for each look, goes on where it stopped
 * (i_es_shrink_lblk), and from the end once round to there. The scan of 2013 begins at the left end, pays for what it
 * frees, and knows no second chance. The list holds what may be freed, the newest first.
 */

/** D: delayed, must stay. W: written, may be freed. R: written and used since, spared once. */
export type Entry = 'D' | 'W' | 'R';
export const kernels = ['scan-2013', 'stock', 'evictable-list'] as const;
export type Kernel = (typeof kernels)[number];

export type Fate = 'kept' | 'spared' | 'freed';

export interface File {
  /** By block; null: gone. */
  readonly entries: readonly (Entry | null)[];
  /** Block from which stock goes on. */
  readonly from: number;
}

export interface Scan {
  /** Block -> its fate, in the order of the looks. */
  readonly looks: readonly (readonly [block: number, fate: Fate])[];
  readonly after: File;
}

export function scan(kernel: Kernel, file: File, budget: number): Scan {
  if (reclaimable(file.entries) === 0) return { looks: [], after: file };
  const walk: Walk = { kernel, entries: [...file.entries], looks: [], left: budget };
  if (kernel === 'stock') return { looks: walk.looks, after: round(walk, file.from) };
  const there = blocksIn(walk.entries).filter(
    (b) => kernel === 'scan-2013' || walk.entries[b] !== 'D',
  );
  for (const block of kernel === 'scan-2013' ? there : there.reverse()) {
    if (walk.left <= 0) break;
    look(walk, block);
  }
  return { looks: walk.looks, after: { entries: walk.entries, from: 0 } };
}

interface Walk {
  readonly kernel: Kernel;
  readonly entries: (Entry | null)[];
  readonly looks: [block: number, fate: Fate][];
  /** Of the budget. */
  left: number;
}

function blocksIn(entries: readonly (Entry | null)[]): number[] {
  return [...entries.keys()].filter((block) => entries[block] !== null);
}

function look(walk: Walk, block: number): void {
  const { kernel, entries, looks } = walk;
  const entry = entries[block];
  const spares = entry === 'R' && kernel !== 'scan-2013';
  const fate: Fate = entry === 'D' ? 'kept' : spares ? 'spared' : 'freed';
  looks.push([block, fate]);
  if (fate === 'freed') entries[block] = null;
  if (fate === 'spared') entries[block] = 'W';
  if (kernel !== 'scan-2013' || fate === 'freed') walk.left -= 1;
}

/** es_reclaim_extents(): to the end of the tree, then from its begin to where the scan began. */
function round(walk: Walk, start: number): File {
  let { from, over } = stretch(walk, start, Number.POSITIVE_INFINITY);
  if (over && start !== 0) ({ from, over } = stretch(walk, from, start - 1));
  return { entries: walk.entries, from };
}

/** es_do_reclaim_extents() of stock: from the entry at or behind `from` to `end`; where to go on, and whether it came there. */
function stretch(walk: Walk, from: number, end: number): { from: number; over: boolean } {
  const way = blocksIn(walk.entries).filter((block) => block >= from);
  for (const [i, block] of way.entries()) {
    if (walk.left <= 0) return { from: block, over: false };
    if (block > end) return { from: end + 1, over: true };
    look(walk, block);
    if (i === way.length - 1) break;
  }
  return { from: 0, over: true };
}

/** The n-th scan, from 1, and the file before it. */
export function nth(kernel: Kernel, entries: readonly Entry[], budget: number, n: number) {
  let before: File = { entries, from: 0 };
  for (let i = 1; i < n; i++) before = scan(kernel, before, budget).after;
  return { before, ...scan(kernel, before, budget) };
}

export function freedBy({ looks }: Pick<Scan, 'looks'>): number {
  return looks.filter(([, fate]) => fate === 'freed').length;
}

export function reclaimable(entries: readonly (Entry | null)[]): number {
  return entries.filter((entry) => entry === 'W' || entry === 'R').length;
}
