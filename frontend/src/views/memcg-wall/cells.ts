// SPDX-License-Identifier: GPL-2.0-or-later
/** The cells of a wall at one moment. Rows are memcgs, the root first; columns are ids. */

export const rootRow = 0;

/** What came of a cell in the call that goes on. */
export const Seen = {
  none: 0,
  vain: 1,
  busy: 2,
  freed: 3,
  /** Found empty, bit cleared, and visited once more. */
  again: 4,
  /** Its bit was cleared; visits are not reported one by one. */
  cleared: 5,
} as const;

/** Why a bit is set. */
export const Bit = { clear: 0, expansion: 1, object: 2 } as const;

/** Numbers that go with the cells. Those before `sets` begin anew with each call. */
export const Count = {
  call: 0,
  pass: 1,
  inRoot: 2,
  began: 3,
  ended: 4,
  visits: 5,
  vain: 6,
  freed: 7,
  again: 8,
  cleared: 9,
  rootVisits: 10,
  /** Cells of the newest visit or walk, -1: none; and when. */
  row: 11,
  col: 12,
  at: 13,
  walkVisited: 14,
  walkSet: 15,
  sets: 16,
  /** Bits set now, and how many of them for an object; without the root's. */
  bits: 17,
  objects: 18,
  expanded: 19,
  shrinkers: 20,
  size: 21,
} as const;

/** The cells at one moment. Arrays are row * stride + column. */
export interface Cells {
  /** Points that have been taken in. */
  at: number;
  readonly bit: Uint8Array;
  readonly seen: Uint8Array;
  /** Pass of the call in which a cell was seen last. */
  readonly pass: Uint8Array;
  /** Memcgs that are there. */
  readonly born: Uint8Array;
  /** How many points had been taken when a row changed last: equal numbers, equal rows. */
  readonly touched: Uint32Array;
  readonly n: Float64Array;
}
