// SPDX-License-Identifier: GPL-2.0-or-later
/** Runs that a class tried: describes, sorts, shows and starts them. */

import { t } from '../../base/lang/t.ts';
import { formatFigure } from '../../base/units.ts';
import { bestRecording } from '../../derive/recording.ts';
import { knobWords } from '../../navigation/knobs.ts';
import { sceneOf } from '../../navigation/navigation.ts';
import { frontPage, type Place } from '../../navigation/place.ts';
import type { RunTaker } from '../../plugins.tsx';
import type { Lesson } from '../../protocol/lesson.ts';
import { waitWords } from '../../runs/runs-line.tsx';
import { isOwn } from '../../store/changes.ts';
import type { ClassOpened, ClassTry, Room } from './class-state.ts';
import { useRoom, useVisit } from './hooks.tsx';

export type Order = 'time' | 'highest' | 'lowest';

/** The step if the instructor lets members try their own runs there; otherwise null. */
export function openedAt(
  room: Pick<Room, 'opened'> | null,
  lesson: string,
  step: string,
): ClassOpened['steps'][number] | null {
  const steps = room?.opened?.steps ?? [];
  return steps.find((one) => one.lesson === lesson && one.step === step) ?? null;
}

/** The members who made an attempt: "Ada and Bo". */
export function makersWords({ makers }: Pick<ClassTry, 'makers'>): string {
  const names = makers.map((maker) => maker.name);
  const last = names.pop();
  if (last === undefined) return t('a person who has left');
  return names.length === 0 ? last : t('{names} and {last}', { names: names.join(', '), last });
}

/** The differences from the step: knobs, then the patch. */
export function changedWords(
  { turned, summary }: Pick<ClassTry, 'turned' | 'summary'>,
  lesson: Pick<Lesson, 'params'>,
): string {
  const knobs = Object.entries(turned).map(([name, value]) => knobWords(lesson, name, value));
  const all = [...knobs, ...(summary === '' ? [] : [t('patch: {summary}', { summary })])];
  return all.length === 0 ? t('unchanged values of the step') : all.join(', ');
}

/** The state of a run, or its number once it is finished. */
export function standsWords(one: ClassTry): string {
  const { state, place, estimate_s, sentence } = one;
  if (state === 'running') return t('runs now');
  if (state === 'failed') return sentence;
  if (state === 'done') {
    const number = resultWords(one) || t('the workload printed no number');
    return sentence === '' ? number : `${number}. ${sentence}`;
  }
  if (place === null) return t('waits until another run of the same person has ended');
  return estimate_s === null
    ? t('waits, place {place}', { place })
    : t('waits, place {place}, begins {begins}', { place, begins: waitWords(estimate_s) });
}

/** The numbers of a run, such as "rwsem 900, SRCU 180 umounts/s"; empty if there is no number. */
function resultWords({ result }: Pick<ClassTry, 'result'>): string {
  if (result === null || result.lanes.length === 0) return '';
  const lanes = result.lanes.map(({ title, value }) => `${title} ${formatFigure(value)}`);
  return `${lanes.join(', ')} ${result.unit}`;
}

/**
 * The number by which runs are sorted: the ratio of the second lane's number to the first lane's. Without a ratio, it
 * is the first lane's number.
 */
export function numberOf({ result }: Pick<ClassTry, 'result'>): number | null {
  return result === null ? null : (result.ratio ?? result.lanes[0]?.value ?? null);
}

/** The ratio of two lanes, such as "×0.2"; empty if the run has no second lane to compare. */
export function ratioWords({ result }: Pick<ClassTry, 'result'>): string {
  return result?.ratio == null ? '' : `×${formatFigure(result.ratio)}`;
}

/** Attempts, newest first or sorted by their number; attempts without a number come last. */
export function ordered(tries: readonly ClassTry[], by: Order): readonly ClassTry[] {
  const newest = tries.toSorted((a, b) => b.number - a.number);
  if (by === 'time') return newest;
  const sign = by === 'highest' ? -1 : 1;
  const rank = (one: ClassTry) => {
    const number = one.state === 'done' ? numberOf(one) : null;
    return number === null ? Number.POSITIVE_INFINITY : sign * number;
  };
  return newest.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    return left === right ? 0 : left - right;
  });
}

/** The address that shows the run alone, as the member who made it sees it. */
export function alonePlace(lesson: Pick<Lesson, 'slug'>, one: ClassTry): Place {
  const { step, run, arms } = one;
  return { ...frontPage, lesson: lesson.slug, step, run, arms };
}

/**
 * The address that shows the class a run next to the recording of the same step, with the lanes that both have. A run
 * of a changed patch is shown alone: no recording has a lane for that patch, and the run itself contains a lane to
 * compare with. If no recording fits, the run is shown alone, too.
 */
export function shownPlace(lesson: Lesson, one: ClassTry): Place {
  const scene = sceneOf(lesson, one.step);
  const recording = bestRecording(lesson, { ...scene, arms: one.arms, workload: one.workload });
  const alone = alonePlace(lesson, one);
  if (recording === null || one.arms.some(isOwn)) return alone;
  return { ...alone, run: recording.name, beside: one.run };
}

// What a member may try in the current step, and how they start a run.

/** Starts runs for this member; null if this page is not a member's, or if the instructor has not opened the step. */
export function useTrying(lesson: string, step: string): RunTaker | null {
  const { classroom, room, open } = useRoom();
  const opened = openedAt(room, lesson, step);
  if (classroom === null || !open || room?.part !== 'member' || opened === null) return null;
  return {
    patches: opened.patches,
    // A member who starts a run stops following the leader.
    attempt: (run) => {
      classroom.detach();
      classroom.attempt({ ...run, lesson, step });
    },
  };
}

// The instructor shows a run to the class, and afterwards returns to the previous position in the lesson.

export type ShownFrom = (to: Place) => void;

/** @param here the instructor's current position, to which they return */
export function useShow(here: Place): ShownFrom {
  const { classroom, room, driving } = useRoom();
  const visit = useVisit();
  return (to) => {
    if (classroom === null) return;
    // The class follows the leader, so the instructor first takes back control.
    if (!driving && room?.part === 'instructor') classroom.hand('');
    classroom.before.set(classroom.before.get() ?? here);
    visit(to);
  };
}

/** Return to the position before a run was shown. If that position is unknown, go to the step. */
export function useBack(place: Place): () => void {
  const { classroom } = useRoom();
  const visit = useVisit();
  return () => {
    const { lesson, step } = place;
    const before = classroom?.before.get() ?? null;
    classroom?.before.set(null);
    visit(before ?? { ...frontPage, lesson, step });
  };
}
