// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions of a lesson that a class answers by pointing into the picture. Pure. */

import type { Mark } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { TallyRound } from './class-state.ts';
import { spotOf } from './spot.ts';

type Pointed = TallyRound['marks'][number];
type Questions = Pick<Lesson, 'questions'>;

const form = /^point-(\d{1,3})$/;

/** The id of a lesson's question in the class; the number counts from 1. */
export function pointId(question: number): string {
  return `point-${question + 1}`;
}

/** Which question of the lesson an id names; null: none. */
export function pointOf({ questions }: Questions, id: string): number | null {
  const number = Number(form.exec(id)?.[1] ?? Number.NaN);
  return questions[number - 1] === undefined ? null : number - 1;
}

/** Those of a step, by their places in the lesson. */
export function pointsOf({ questions }: Questions, step: string): readonly number[] {
  return questions.flatMap((one, i) => (one.step === step ? [i] : []));
}

/** Parts of a box, 0 to 1; outside counts as its edge. */
export function partsOf(
  box: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  },
  at: { readonly x: number; readonly y: number },
): { readonly x: number; readonly y: number } {
  const part = (value: number, from: number, length: number) =>
    length > 0 ? Math.min(1, Math.max(0, (value - from) / length)) : 0.5;
  return { x: part(at.x, box.left, box.width), y: part(at.y, box.top, box.height) };
}

/** A mark as the class is sent it. */
export function markFields(mark: Mark, parts: { readonly x: number; readonly y: number }): Pointed {
  const { arm, row, t_ns } = spotOf(mark);
  return { ...parts, arm, row, t_ns };
}

/** Cells of the picture with how many pointed there, the fullest last. */
export function heatOf(
  marks: readonly Pick<Pointed, 'x' | 'y'>[],
  columns = 48,
  rows = 24,
): readonly { readonly x: number; readonly y: number; readonly count: number }[] {
  const cells = new Map<string, { x: number; y: number; count: number }>();
  for (const { x, y } of marks) {
    const [column, row] = [
      Math.min(columns - 1, Math.floor(x * columns)),
      Math.min(rows - 1, Math.floor(y * rows)),
    ];
    const key = `${column} ${row}`;
    const cell = cells.get(key) ?? { x: 0, y: 0, count: 0 };
    const count = cell.count + 1;
    // The middle of those who pointed there, not of the cell.
    cells.set(key, { x: cell.x + (x - cell.x) / count, y: cell.y + (y - cell.y) / count, count });
  }
  return [...cells.values()].sort((a, b) => a.count - b.count);
}
