// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The types of a lesson under the names that the page uses. They are generated from the server's models
 * (contract.gen.ts).
 */

import type * as wire from './contract.gen.ts';

export type Lesson = wire.PictureLesson;
export type NumbersLesson = wire.NumbersLesson;
export type Metric = wire.Metric;
export type Arm = wire.ArmView;
export type Param = wire.Param;
export type Kind = wire.Kind;
export type Scene = wire.Scene;
export type Prediction = wire.Prediction;
export type Question = wire.Question;
export type Term = wire.Term;
export type QuizQuestion = wire.QuizQuestion;
export type Remark = wire.Remark;
export type Source = wire.Source;
export type Trial = wire.Trial;
export type Patch = wire.PatchText;
export type Recording = wire.RecordingLine;
export type Act = wire.Act;
export type PointFacts = wire.Point;
export type Axis = wire.Axis;
/** A recorded table of untraced runs, reduced to the fields that the page shows. */
export type MeasuredTable = Pick<wire.MeasuredTable, 'clock' | 'params' | 'workload'> & {
  /** Name of the host that measured the table; missing or empty for this project's host and for the server's host. */
  readonly on?: string;
  /** Name of the metric; missing in tables that a test makes. */
  readonly metric?: string;
  /** Name of the curve to which the table adds a point; missing or empty if the table has the headline metric. */
  readonly curve?: string;
  /** The host's CPU model, number of CPUs, and kernel. */
  readonly host?: string;
  readonly rows: readonly Pick<wire.MeasuredRow, 'arm' | 'n' | 'ops_per_s_median' | 'unit'>[];
};
export type Curve = wire.Curve;
export type Grid = wire.Grid;
export type GridCurve = wire.GridCurve;
export type GridCell = wire.GridCell;
export type Lit = wire.Lit;
export type Native = wire.NativeView;

/** The number that identifies a kind in messages; -1 if the lesson does not declare the kind. */
export function kindNumber(of: Pick<Lesson, 'kinds'>, name: string): number {
  return of.kinds.findIndex((k) => k.name === name);
}

/** The name of the lesson's knob with this role; null if no knob has this role. */
export function knobOf(
  lesson: Pick<Lesson, 'params'>,
  role: NonNullable<Param['role']>,
): string | null {
  return Object.entries(lesson.params).find(([, p]) => p.role === role)?.[0] ?? null;
}
