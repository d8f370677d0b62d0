// SPDX-License-Identifier: GPL-2.0-or-later
/** The two runs of a side-by-side page, as every part of it gets them. */

import type { Side } from '../derive/pair.ts';
import type { RunIndex } from '../derive/types.ts';
import type { Store } from '../store/store.ts';

export interface Runs {
  readonly ids: Readonly<Record<Side, string>>;
  readonly stores: Readonly<Record<Side, Store>>;
  readonly index: (side: Side) => RunIndex | null;
}
