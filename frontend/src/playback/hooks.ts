// SPDX-License-Identifier: GPL-2.0-or-later
/** Playback and derivations for React: text that follows the player calmly. */

import { useMemo, useRef, useSyncExternalStore } from 'react';
import { ns } from '../base/units.ts';
import { opsNow } from '../derive/align.ts';
import { frameEnd } from '../derive/moments.ts';
import { type Answer, opsRatio, tableRatio } from '../derive/prediction.ts';
import { axisSpeedWords } from '../derive/retime.ts';
import { lessonOfRun } from '../derive/run-index.ts';
import type { NearbyRow } from '../derive/summary.ts';
import type { Frame, Mark, RunIndex } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useEventsVersion, useLesson } from '../store/hooks.tsx';
import type { Counts } from '../views/contract.ts';
import { viewOf } from '../views/registry.ts';
import { actions, type Playback } from './actions.ts';
import type { Actor } from './player.ts';
import { reducedMotion, useRunIndex, useStage, useWholeIndex } from './provider.tsx';

/** @param by who acts: a person, or the page itself, which makes nobody leave the driver of a class */
export function usePlayback(by: Actor = 'person'): Playback {
  const stage = useStage();
  const state = useSyncExternalStore(stage.player.texts.subscribe, stage.player.textState);
  const acts = useMemo(() => actions(stage, by), [stage, by]);
  const index = useRunIndex();
  return useMemo(
    () => ({
      ...acts,
      state: {
        ...state,
        live: index?.live ?? false,
        reduced: reducedMotion(),
        watermark: index === null ? ns(0) : frameEnd(index, state.offset),
        speedWords: axisSpeedWords(index?.axis ?? null, state.speed),
      },
    }),
    [acts, state, index],
  );
}

/**
 * A derivation of (index, frame, lesson), anew when the text moment or the events change: all text is of one moment.
 * What costs work is derived at most five times a second.
 */
function useDerived<T>(
  derive: (index: RunIndex, frame: Frame, lesson: Lesson) => T,
  none: T,
  key: string,
  costly = false,
): T {
  const stage = useStage();
  const lesson = useLesson();
  const version = useEventsVersion();
  const state = useSyncExternalStore(stage.player.texts.subscribe, stage.player.textState);
  const cached = useRef<{ at: number; inputs: readonly unknown[]; value: T }>({
    at: Number.NEGATIVE_INFINITY,
    inputs: [],
    value: none,
  });
  const inputs = [lesson, version, state, key] as const;
  const same = inputs.every((x, i) => x === cached.current.inputs[i]);
  const calm = costly && state.mode !== 'paused' && performance.now() - cached.current.at < 200;
  const fixed = cached.current.inputs[3] === key && cached.current.inputs[0] === lesson;
  if (!same && !(calm && fixed)) {
    const index = stage.index();
    const frame = stage.player.textFrame();
    const value =
      index === null || lesson === null
        ? none
        : derive(index, frame, lessonOfRun(lesson, index.workload));
    cached.current = { at: performance.now(), inputs, value };
  }
  return cached.current.value;
}

/** The scene's sentence, now: one of its view's. */
export function useSentence(kind: string): string {
  return useDerived(
    (index, frame, lesson) => viewOf(lesson.view).sentences[kind]?.(index, frame, lesson) ?? '',
    '',
    kind,
  );
}

const noSummary: readonly string[] = [];

/** The window in words, a sentence per lane. */
export function useSummary(): readonly string[] {
  return useDerived<readonly string[]>(
    (index, frame, lesson) => viewOf(lesson.view).summary(index, frame, lesson),
    noSummary,
    'summary',
  );
}

const noRows: readonly NearbyRow[] = [];

/** At most 50 marks near the moment. Costs some work: use it only while the table is open. */
export function useNearby(): readonly NearbyRow[] {
  return useDerived<readonly NearbyRow[]>(
    (index, frame, lesson) => viewOf(lesson.view).table(index, frame, lesson),
    noRows,
    'nearby',
    true,
  );
}

/** The counts of the lesson's view at this moment; null if it has none of its own. */
export function useCountTable(): Counts | null {
  return useDerived<Counts | null>(
    (index, frame, lesson) => viewOf(lesson.view).counts?.(index, frame, lesson) ?? null,
    null,
    'counts of the view',
  );
}

export interface LaneCount {
  readonly arm: string;
  /** Operations that ended up to the moment; null while the moment is past what is known. */
  readonly ops: number | null;
}

const noCounts: readonly LaneCount[] = [];

export function useCounts(): readonly LaneCount[] {
  return useDerived<readonly LaneCount[]>(
    (index, frame) => index.lanes.map((lane) => ({ arm: lane.arm, ops: opsNow(lane, frame) })),
    noCounts,
    'counts',
  );
}

/**
 * The truth about a prediction, from the run on show or from the recorded table that it names; null while there are too
 * few operations.
 */
export function usePrediction(id: string | null | undefined): Answer | null {
  const lesson = useLesson();
  const whole = useWholeIndex();
  const prediction = id == null ? undefined : lesson?.predictions[id];
  if (prediction === undefined || lesson === null) return null;
  if (prediction.measured_on !== null) return tableRatio(lesson, prediction, lesson);
  if (whole === null) return null;
  if (whole.reading === 'coming') return null;
  const own = viewOf(lesson.view).answers?.[prediction.metric];
  const answer = own ?? (prediction.metric === 'ops_ratio' ? opsRatio : null);
  return answer?.(whole, prediction, lesson) ?? null;
}

/** Is this mark what a question asks to point at? */
export function pointsAt(
  index: RunIndex,
  mark: Mark,
  question: {
    readonly kind: string;
    readonly arm: string;
    readonly also?: readonly string[];
    readonly any_lane?: boolean;
  },
): boolean {
  const kind = index.kinds[mark.kind]?.name ?? '';
  const right = kind === question.kind || (question.also ?? []).includes(kind);
  return right && (question.any_lane === true || mark.arm === question.arm);
}
