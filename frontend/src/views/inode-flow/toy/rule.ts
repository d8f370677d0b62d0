// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A file is unlinked, its inode is used again, and a reader may still look: what happens on each kernel. Pure.
 *
 * fs/xfs/xfs_icache.c of 6.1 and the three patches of this lesson. Who found the inode before the unlink walks under
 * RCU, and a grace period that begins while any reader is inside does not end before that reader leaves. Kernels that
 * ask for a grace period when the inode is queued (wait at recycle, call_rcu) have it begin then; the worker asks when
 * it takes the inode; stock asks nobody. cond_synchronize_rcu() waits for a whole grace period that begins after it is
 * called, so after the one that is under way. All times in ns.
 */

export interface Race {
  readonly unlink: number;
  /** From the unlink until the worker has inactivated the inode. */
  readonly work: number;
  /** From the unlink to the end of a grace period that is asked for with it, if no reader of ours holds it up. */
  readonly asked: number;
  /** How long cond_synchronize_rcu() sleeps then: one grace period may have to end before its own begins. */
  readonly whole: number;
  /** From the unlink to the end of a grace period that somebody else asked for. */
  readonly shadow: number;
  readonly reader: { readonly from: number; readonly to: number };
  /** Somebody creates a file, and would get this inode. */
  readonly create: number;
}

export interface Wait {
  readonly who: 'create' | 'worker';
  readonly from: number;
  readonly to: number;
}

export interface Fate {
  /** The worker has the inode from then on; no sooner is it on its list. */
  readonly listed: number;
  /** Inactivated: the next file may have it. */
  readonly free: number;
  /** End of the grace period after which no old reader is left. */
  readonly over: number;
  /** When a new file lives in it; null: the create took another inode. */
  readonly reused: number | null;
  readonly wait: Wait | null;
  /** The reader found the old file and looks at the new one. */
  readonly wrong: boolean;
}

/** When a grace period is over that begins at `begin` and usually ends at `usual`: not before our reader leaves, if inside. */
export function graceEnd({ reader }: Pick<Race, 'reader'>, begin: number, usual: number): number {
  return Math.max(usual, reader.from < begin ? reader.to : 0);
}

/** Did the reader find the inode while the old file had it? */
export function isOld({ reader, unlink }: Race): boolean {
  return reader.from < unlink;
}

function fated(race: Race, fate: Omit<Fate, 'wrong'>): Fate {
  const wrong = isOld(race) && fate.reused !== null && race.reader.to > fate.reused;
  return { ...fate, wrong };
}

export function stock(race: Race): Fate {
  const { unlink, work, shadow, create } = race;
  const free = unlink + work;
  const over = Math.max(unlink + shadow, isOld(race) ? race.reader.to : 0);
  return fated(race, { listed: unlink, free, over, reused: taken(create, free), wait: null });
}

/** A create gets the inode if it is free by then. */
function taken(create: number, free: number): number | null {
  return create >= free ? create : null;
}

export function waitAtRecycle(race: Race): Fate {
  const { unlink, work, asked, whole, create } = race;
  const free = unlink + work;
  const over = graceEnd(race, unlink, unlink + asked);
  const base = { listed: unlink, free, over };
  const at = taken(create, free);
  if (at === null || at >= over) return fated(race, { ...base, reused: at, wait: null });
  // The next grace period begins when the one that is under way is over.
  const to = graceEnd(race, over, Math.max(over, at + whole));
  return fated(race, { ...base, reused: to, wait: { who: 'create', from: at, to } });
}

export function waitInWorker(race: Race): Fate {
  const { unlink, work, whole, create } = race;
  const begin = unlink + work;
  const over = graceEnd(race, begin, begin + whole);
  const wait = { who: 'worker', from: begin, to: over } as const;
  return fated(race, { listed: unlink, free: over, over, reused: taken(create, over), wait });
}

export function callRcu(race: Race): Fate {
  const { unlink, work, asked, create } = race;
  const over = graceEnd(race, unlink, unlink + asked);
  const free = over + work;
  return fated(race, { listed: over, free, over, reused: taken(create, free), wait: null });
}
