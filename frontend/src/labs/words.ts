// SPDX-License-Identifier: GPL-2.0-or-later
/** Points, attempts and dates of a lab in words. Pure. */

import { locale, t } from '../base/lang/t.ts';
import type { LabTask, LabView, MyTask } from '../protocol/contract.gen.ts';
import { dateTag } from '../ui/words.ts';

/** `1.5`, with the signs of the visitor's language. */
export function pointsWords(value: number): string {
  return Number(value.toFixed(2)).toLocaleString(locale());
}

export const points = (value: number): string =>
  t('{value, plural, one {# point} other {# points}}', { value: Number(value.toFixed(2)) });

/** `1 of 2 points`. */
export function reached(given: number, most: number): string {
  return t('{given} of {most, plural, one {# point} other {# points}}', {
    ...{ given: pointsWords(given), most: Number(most.toFixed(2)) },
  });
}

/** `1 of 2 points`, `2 points`, `to be graded`. */
export function standing(task: LabTask, mine: MyTask): string {
  if (mine.points !== null) return reached(mine.points, task.points);
  if (mine.state === 'ungraded')
    return t('to be graded, {points}', { points: points(task.points) });
  if (mine.state === 'answered') return t('answered, {points}', { points: points(task.points) });
  return points(task.points);
}

export function attemptsLeft(mine: MyTask): string {
  if (mine.left === null) return '';
  return mine.left === 0
    ? t('no attempt left')
    : t('{left, plural, one {# attempt} other {# attempts}} left', { left: mine.left });
}

/** When it closes, in the viewer's own time zone. */
export function dueWords(lab: LabView, tag = dateTag()): string {
  if (lab.deadline === null) return t('no deadline');
  const due = new Date(lab.deadline).toLocaleString(tag, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
  if (!lab.open) return t('was due {due}; it is over', { due });
  return lab.closes !== null && new Date(lab.closes) > new Date(lab.deadline)
    ? t('due {due}, with some grace', { due })
    : t('due {due}', { due });
}

/** What an answer said, in words. */
export function answerWords(task: LabTask, answer: MyTask['attempts'][number]['answer']): string {
  if (answer.choice != null)
    return task.choices[answer.choice] ?? t('choice {n}', { n: answer.choice + 1 });
  if (answer.value != null) return `${answer.value} ${task.unit}`.trim();
  if (answer.text != null) return answer.text;
  if (answer.mark != null)
    return t('{kind} on {arm}', { kind: answer.mark.kind, arm: answer.mark.arm });
  return answer.arm ?? t('a run');
}
