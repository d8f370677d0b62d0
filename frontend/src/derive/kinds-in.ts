// SPDX-License-Identifier: GPL-2.0-or-later
/** Which kinds of spans a run has at all: a legend names what its picture can show. */

import { perVersion } from './per-version.ts';
import type { LaneIndex, RunIndex } from './types.ts';

const ofLane = perVersion((_index, { spans, open }: LaneIndex): ReadonlySet<number> => {
  const found = new Set<number>();
  for (let i = 0; i < spans.length; i++) found.add(spans.kind[i]!);
  for (let i = 0; i < open.length; i++) found.add(open.kind[i]!);
  return found;
});

/** Names of kinds with a span on some lane. */
export function kindsIn(index: RunIndex): ReadonlySet<string> {
  const names = index.lanes.flatMap((lane) =>
    [...ofLane(index, lane)].flatMap((kind) => index.kinds[kind]?.name ?? []),
  );
  return new Set(names);
}
