// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Types of an index. A view is a pure function of index, frame and size. A live run differs only in that the moment is
 * now.
 */

import type { Nanos } from '../base/units.ts';
import type { Axis } from '../protocol/lesson.ts';
import type { LaneSample, Loss, Row } from '../store/lane.ts';
import type { LinkTable, OpTable, PointTable, SpanTable } from '../store/tables.ts';

export type { Nanos } from '../base/units.ts';
export type { LaneSample, Loss, Row } from '../store/lane.ts';
export type { LinkTable, OpTable, PointTable, SpanTable } from '../store/tables.ts';

/** How lanes are aligned; align.ts explains each value. */
export type Alignment = 'time' | 'operation' | 'marker' | 'begin';

/** Kinds of the layer `mark` have no spans; views draw them from points. */
export type Layer = 'state' | 'function' | 'track' | 'mark';

/** The spans of one row and layer, sorted by t0. For wide windows there is a pyramid of levels of detail. */
export interface Strand {
  readonly row: number;
  readonly layer: Layer;
  /** Indices into the lane's SpanTable, sorted by t0. The first `length` entries are valid. */
  readonly order: Uint32Array;
  readonly length: number;
  /** Length of the longest span. A span that contains a moment begins at most this much earlier. */
  readonly longest: number;
  /** Time in each state per bucket. From level to level, bucketNs grows by a factor of 8. */
  readonly levels: readonly LodLevel[];
}

export interface LodLevel {
  readonly bucketNs: number;
  /** Nanoseconds per bucket and local kind, at ns[bucket * kinds + local]. */
  readonly ns: Float32Array;
  readonly kinds: number;
  readonly buckets: number;
  /** The lesson's kind for each local kind. */
  readonly kindOf: Uint8Array;
}

/** The rows of a table in an order other than that of their arrival, as indices. */
export interface Order {
  readonly order: Uint32Array;
  readonly length: number;
}

export interface LaneIndex {
  readonly arm: string;
  readonly rows: readonly Row[];
  readonly spans: SpanTable;
  /** Spans that are still open at the watermark. Their t1 is the watermark instead of an end. */
  readonly open: SpanTable;
  readonly ops: OpTable;
  readonly links: LinkTable;
  /** Single events with their fields, in order of time. */
  readonly points: PointTable;
  readonly strands: readonly Strand[];
  /** Operations in the order in which they ended. */
  readonly opsByEnd: Order;
  readonly linksByTime: Order;
  /** Number of operations that ended before the oldest operation in the table. */
  readonly opsEvicted: number;
  /** Duration of the longest of the lesson's waits so far, ns. */
  readonly longestWait: number;
  /** Time up to which the lane's data are complete. What comes later is unknown, not idle. */
  readonly watermark: Nanos;
  /** The guest's monotonic clock at time 0 of the lane, ns; null if unknown. */
  readonly startNs: number | null;
  /** Time before which history was evicted. */
  readonly historyFrom: Nanos;
  readonly losses: readonly Loss[];
  readonly ended: boolean;
  readonly failed: boolean;
  strand(row: number, layer: Layer): Strand | null;
  /** Indices in `points` of the points with one name, in order of time; empty if the lesson lacks the name. */
  pointsOf(name: string): Order;
  /** The x-ray samples of a structure, in order of guest time; empty if there are none. */
  samples(probe: string): readonly LaneSample[];
  /** Names of the probes and lenses that have samples. */
  probes(): readonly string[];
  /** Convert a moment of this lane's axis to guest time. On a time axis the two are identical. */
  guestTime(t: number): Nanos;
  /** The guest time of an entry of `points`. It is exact on every axis. */
  pointTime(i: number): Nanos;
  /** The layer of a kind; undefined if the lesson does not declare the kind. */
  layerOf(kind: number): Layer | undefined;
}

/** The parts of a kind that derivations need. */
export interface KindFacts {
  readonly name: string;
  readonly title: string;
  readonly colour: 'work' | 'wait' | 'mechanism' | 'gain' | 'vain' | 'hazard' | 'idle' | 'other';
  readonly layer: Layer;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  /** Whether the kind is part of the lesson. If not, it is drawn and named, but not explained. */
  readonly lesson: boolean;
}

export interface RunIndex {
  readonly runId: string;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
  readonly live: boolean;
  /** The amount of a recording that has arrived, since it arrives in parts; `unknown` if its size was not announced. */
  readonly reading: 'unknown' | 'coming' | 'whole';
  readonly lanes: readonly LaneIndex[];
  readonly kinds: readonly KindFacts[];
  /** What the axis counts instead of guest time; null if it shows guest time. */
  readonly axis: Axis | null;
  /** Whether the order of points on the axis depends on how the host scheduled the vCPUs. */
  readonly hostOrder: boolean;
  /** Name of the points that are beats; null if the ends of operations are beats. */
  readonly beat: string | null;
  /** The knobs of the run, and its workload. */
  readonly params: Readonly<Record<string, number>>;
  readonly workload: string;
  /** Duration of a tick, ns (HZ of the base's configuration). */
  readonly tickNs: number;
  /** A version number that increases whenever a lane changes. */
  readonly version: number;
}

/** A mark that was selected by pointer or key, with enough data to find its raw records again. */
export interface Mark {
  readonly arm: string;
  readonly table: 'spans' | 'ops' | 'links' | 'points' | 'samples';
  readonly id: number;
  readonly row: number;
  readonly kind: number;
  readonly t0: Nanos;
  readonly t1: Nanos;
  /** Whether the mark is still open at the watermark. */
  readonly open?: boolean;
}

/** A part of a lane's picture, under a name that the view defines. */
export interface Region {
  readonly arm: string;
  readonly name: string;
}

export interface Frame {
  readonly axis: 'time' | 'operation' | 'access';
  /** The current moment, which is drawn as the playhead. */
  readonly moment: Nanos;
  /** The window is [start, start + span), the same for all lanes. */
  readonly start: Nanos;
  readonly span: number;
  /** Offset of each lane, which is added to its time before drawing (see Alignment). */
  readonly offset: ReadonlyMap<string, number>;
  /**
   * The alignment and the number of its operation, from 1. `at` is the aligned frame time, if it also depends on lanes
   * that are not drawn here.
   */
  readonly aligned?: { readonly by: Alignment; readonly n: number; readonly at?: Nanos | null };
  readonly selection: Mark | null;
  /** Marks that the step's sentence mentions at this moment. */
  readonly spoken?: readonly Mark[];
  /** Regions that the sentence mentions. */
  readonly regions?: readonly Region[];
  /** Names of the kinds in focus; all other kinds are muted. If empty, no kind is muted. */
  readonly focus: ReadonlySet<string>;
  /** Whether views draw only what happened up to the moment (a sweep of the oscilloscope), or the whole window. */
  readonly reveal: 'moment' | 'window';
  /** Whether each lane stops at the end of the operation with which its window begins. */
  readonly hold?: boolean;
}

/** The current frame, and a way to subscribe to new ones. */
export interface Frames {
  readonly get: () => Frame;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * Tells a canvas its frame, and when to redraw. `text` gives the frame for sentences and tables. While the moment
 * moves, it is updated ten times a second, always with a frame that is painted. At rest both are the same frame.
 */
export interface FrameSource extends Frames {
  readonly text?: Frames;
}

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
}
