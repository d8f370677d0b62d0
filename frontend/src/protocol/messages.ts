// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The types of socket messages under the names that the page uses. They are generated from the server's models
 * (contract.gen.ts).
 */

import type * as wire from './contract.gen.ts';

export { protocolVersion } from './contract.gen.ts';

export type Dtype = wire.Batch['dtypes'][string];
export type ReadingMessage = wire.Reading;
export type SegmentsMessage = wire.Segments;
export type HelloMessage = wire.Hello;
/** The name of an action that the server can deny to a visitor. */
export type ActionName = keyof HelloMessage['denied'];
export type LessonMessage = wire.LessonMessage;
export type RunMessage = wire.Run;
export type Contention = wire.Contention;
export type LaneMessage = wire.Lane;
export type RowsMessage = wire.Rows;
export type MetricsMessage = wire.Metrics;
export type GapMessage = wire.Gap;
export type LossMessage = wire.Loss;
export type LineMessage = wire.Line;
export type BuildMessage = wire.Build;
/** Progress of this visitor's change to an arm. */
export type ChangedMessage = wire.Changed;
export type Problem = wire.Problem;
export type MeasuredMessage = wire.Measured;
export type JudgedMessage = wire.Judged;
export type MeasuredRow = wire.MeasuredRow;
export type ControlMessage = wire.Control;
export type RunsMessage = wire.Runs;
export type LiveRun = wire.LiveRun;
export type WaitingRun = wire.WaitingRun;
export type HeldMessage = wire.Held;
export type LensMessage = wire.Lens;
/** An error from the server or from the page. An error from the page names no run. */
export type ErrorMessage = Omit<wire.ErrorMessage, 'run'> & { run?: string | null };
export type ClockName = RunMessage['clock'];

export type TypedColumn = Float64Array | Int32Array | Uint8Array | Uint32Array | Int16Array;

/** A decoded batch. Its typed columns own their memory. */
export interface BatchMessage extends Omit<wire.Batch, 'columns' | 'dtypes'> {
  readonly columns: Readonly<Record<string, TypedColumn>>;
}

/** A decoded sample. In some probes, the number of values in a column differs from the number of rows. */
export interface SampleMessage extends Omit<wire.Sample, 'columns' | 'dtypes'> {
  readonly columns: Readonly<Record<string, TypedColumn>>;
}

/** A message that only plug-ins handle. */
export type PluginMessage = wire.PluginWire;

export type ServerMessage =
  | Exclude<wire.ServerWire, { type: 'batch' | 'sample' | 'error' }>
  | ErrorMessage
  | BatchMessage
  | SampleMessage;

/** A message to send; all of its fields are read-only. */
type Sent<T> = T extends object ? { readonly [K in keyof T]: Sent<T[K]> } : T;
type SentMessage<T> = T extends unknown ? Sent<T> : never;

export type ClientMessage = SentMessage<wire.ClientWire>;
export type RunChoice = Omit<Sent<wire.Start>, 'type'>;
