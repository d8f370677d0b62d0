// SPDX-License-Identifier: GPL-2.0-or-later
/** What each arm of a lesson is doing: kernel, guest, failure. Pure, but for what kind of page this is. */

import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import type { ArmState } from '../controls/run-controls.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { buildPhase, lanePhase } from '../runs/phase.ts';
import type { Server } from './use-server.ts';

type Seen = Pick<Server, 'run' | 'pending' | 'lanes' | 'builds'>;

function laneOf(name: string, { lanes, builds }: Seen) {
  const lane = lanes.find((l) => l.arm === name) ?? null;
  const build = builds.find((b) => b.arm === name) ?? null;
  return { lane, build };
}

export function armStates(lesson: Lesson, seen: Seen): ArmState[] {
  return lesson.arms.map(({ name }) => {
    if (siteOf()) return { name, words: '' };
    const { lane, build } = laneOf(name, seen);
    const building = buildPhase(build)?.words;
    const built = (lesson.ready[name] ?? false) || build?.phase === 'done';
    const alive =
      lane && (seen.run?.source === 'live' || seen.pending) && lane.phase !== 'waiting'
        ? lanePhase(lane, build, false).words
        : '';
    const kernel = built ? t('kernel built') : t('not built yet: run builds it');
    return { name, words: alive || building || kernel, copied: lane?.cloned ?? false };
  });
}

export function failedArms(lesson: Lesson, seen: Seen) {
  const recorded = seen.run?.source === 'recorded';
  return lesson.arms
    .map((arm) => {
      const { lane, build } = laneOf(arm.name, seen);
      return { arm, phase: lanePhase(lane, build, recorded, seen.pending !== null) };
    })
    .filter(({ phase }) => phase.bad);
}
