// SPDX-License-Identifier: GPL-2.0-or-later
/** Points, attempts and dates of a lab in words. Pure. */

import { plural } from '../base/units.ts';
import type { LabTask, LabView, MyTask } from '../protocol/contract.gen.ts';

export const points = (value: number): string => plural(Number(value.toFixed(2)), 'point');

/** `1 of 2 points`, `2 points`, `to be graded`. */
export function standing(task: LabTask, mine: MyTask): string {
  if (mine.points !== null) return `${Number(mine.points.toFixed(2))} of ${points(task.points)}`;
  if (mine.state === 'ungraded') return `to be graded, ${points(task.points)}`;
  if (mine.state === 'answered') return `answered, ${points(task.points)}`;
  return points(task.points);
}

export function attemptsLeft(mine: MyTask): string {
  if (mine.left === null) return '';
  return mine.left === 0 ? 'no attempt left' : `${plural(mine.left, 'attempt')} left`;
}

/** When it closes, in the viewer's own time zone. */
export function dueWords(lab: LabView, locale?: string): string {
  if (lab.deadline === null) return 'no deadline';
  const due = new Date(lab.deadline).toLocaleString(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
  if (!lab.open) return `was due ${due}; it is over`;
  return lab.closes !== null && new Date(lab.closes) > new Date(lab.deadline)
    ? `due ${due}, with some grace`
    : `due ${due}`;
}

/** What an answer said, in words. */
export function answerWords(task: LabTask, answer: MyTask['attempts'][number]['answer']): string {
  if (answer.choice != null) return task.choices[answer.choice] ?? `choice ${answer.choice + 1}`;
  if (answer.value != null) return `${answer.value} ${task.unit}`.trim();
  if (answer.text != null) return answer.text;
  if (answer.mark != null) return `${answer.mark.kind} on ${answer.mark.arm}`;
  return answer.arm ?? 'a run';
}
