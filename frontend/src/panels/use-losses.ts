// SPDX-License-Identifier: GPL-2.0-or-later
/** What must be said of all lanes together: what they lack, and their kernel. */

import type { Lesson } from '../protocol/lesson.ts';
import { useEventsVersion, useStore } from '../store/hooks.tsx';
import type { LaneLens } from './lens-badge.tsx';
import type { LaneLoss } from './loss-list.tsx';

export function useLosses(lesson: Lesson, arms: readonly string[]): readonly LaneLoss[] {
  const store = useStore();
  useEventsVersion();
  const run = store.shown();
  return lesson.arms
    .filter((arm) => arms.includes(arm.name))
    .map((arm) => {
      const lane = run?.lanes.get(arm.name);
      const lostEvents = lane?.losses.reduce((sum, loss) => sum + (loss.events ?? 1), 0) ?? 0;
      return {
        arm: arm.name,
        title: arm.title,
        events: Math.max(lostEvents, lane?.metrics?.events_lost ?? 0),
        losses: lane?.losses ?? [],
        gapRows: lane?.gaps.reduce((sum, gap) => sum + gap.rows, 0) ?? 0,
      };
    });
}

/** How the x-ray of each lane is; lanes without one are left out. */
export function useLenses(lesson: Lesson, arms: readonly string[]): readonly LaneLens[] {
  const store = useStore();
  useEventsVersion();
  const run = store.shown();
  return lesson.arms
    .filter((arm) => arms.includes(arm.name))
    .flatMap(({ name, title }) =>
      [...(run?.lanes.get(name)?.lenses.values() ?? [])].map((lens) => ({ title, lens })),
    );
}

/** The kernel of the run on the stage, as uname says it. */
export function useKernel(): string | null {
  const store = useStore();
  useEventsVersion();
  for (const lane of store.shown()?.lanes.values() ?? []) {
    if (lane.state?.kernel) return lane.state.kernel;
  }
  return null;
}
