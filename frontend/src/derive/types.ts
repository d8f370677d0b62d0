// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Types of an index. A view is a pure function of index, frame and size. A live run is drawn like a recording, with the
 * present as its moment.
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

/** Layers of kinds. Kinds of the layer `mark` have no spans, because views draw them from points. */
export type Layer = 'state' | 'function' | 'track' | 'mark';

/** The spans of one row and layer, sorted by t0. Wide windows draw totals per bucket instead of single spans. */
export interface Strand {
  readonly row: number;
  readonly layer: Layer;
  /** Indices in the lane's SpanTable, sorted by t0. The first `length` entries are valid. */
  readonly order: Uint32Array;
  readonly length: number;
  /** Duration of the longest span. A span that contains a moment begins at most this long before the moment. */
  readonly longest: number;
  /** Time in each state per bucket. Each level's buckets are 8 times as long as those of the previous level. */
  readonly levels: readonly LodLevel[];
}

export interface LodLevel {
  readonly bucketNs: number;
  /** Nanoseconds per bucket and local kind, stored at ns[bucket * kinds + local]. */
  readonly ns: Float32Array;
  readonly kinds: number;
  readonly buckets: number;
  /** Maps each local kind to the lesson's kind. */
  readonly kindOf: Uint8Array;
}

/** Indices of a table's rows, in an order that can differ from the order of arrival. */
export interface Order {
  readonly order: Uint32Array;
  readonly length: number;
}

export interface LaneIndex {
  readonly arm: string;
  readonly rows: readonly Row[];
  readonly spans: SpanTable;
  /** Spans that are still open at the watermark. Their t1 is the watermark. */
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
  /** Duration of the longest of the lesson's waits that have ended, ns. */
  readonly longestWait: number;
  /** Time up to which the lane's data have arrived. Later time is unknown, not idle. */
  readonly watermark: Nanos;
  /** The guest's monotonic clock at the lane's time 0, ns; null if unknown. */
  readonly startNs: number | null;
  /** Time before which the history was evicted. */
  readonly historyFrom: Nanos;
  readonly losses: readonly Loss[];
  readonly ended: boolean;
  readonly failed: boolean;
  strand(row: number, layer: Layer): Strand | null;
  /**
   * Indices in `points` of the points with this name, in order of time; empty if the lesson does not declare the name.
   */
  pointsOf(name: string): Order;
  /** The x-ray samples of a probe, in order of guest time; empty if the probe has none. */
  samples(probe: string): readonly LaneSample[];
  /** Names of the probes and lenses that have samples. */
  probes(): readonly string[];
  /** Convert a moment on this lane's axis to guest time. On an axis of guest time, the two times are equal. */
  guestTime(t: number): Nanos;
  /** The guest time of entry `i` of `points`. It is exact on every axis. */
  pointTime(i: number): Nanos;
  /** The layer of a kind; undefined if the lesson does not declare the kind. */
  layerOf(kind: number): Layer | undefined;
}

/** The parts of a kind that code in derive/ needs. */
export interface KindFacts {
  readonly name: string;
  readonly title: string;
  readonly colour: 'work' | 'wait' | 'mechanism' | 'gain' | 'vain' | 'hazard' | 'idle' | 'other';
  readonly layer: Layer;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  /** Whether the kind is part of the lesson. Other kinds are drawn and named, but not explained. */
  readonly lesson: boolean;
}

export interface RunIndex {
  readonly runId: string;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
  readonly live: boolean;
  /**
   * How much of a recording has arrived, since recordings arrive in parts; `unknown` if the server announced no size.
   */
  readonly reading: 'unknown' | 'coming' | 'whole';
  readonly lanes: readonly LaneIndex[];
  readonly kinds: readonly KindFacts[];
  /** What the axis counts instead of guest time; null if the axis shows guest time. */
  readonly axis: Axis | null;
  /** Whether the order of points on the axis depends on how the host scheduled the vCPUs. */
  readonly hostOrder: boolean;
  /** Name of the points that are beats; null if the ends of operations are beats. */
  readonly beat: string | null;
  /** The knob values of the run. The run's workload is separate. */
  readonly params: Readonly<Record<string, number>>;
  readonly workload: string;
  /** Interval between scheduler ticks, ns (HZ of the base's configuration). */
  readonly tickNs: number;
  /** A version number that increases whenever a lane changes. */
  readonly version: number;
}

/** A mark that was selected by pointer or key, with enough data to find its trace records again. */
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

/** A part of a lane's picture, with a name that the view defines. */
export interface Region {
  readonly arm: string;
  readonly name: string;
}

export interface Frame {
  readonly axis: 'time' | 'operation' | 'access';
  /** The current moment, which is drawn as the playhead. */
  readonly moment: Nanos;
  /** The window is [start, start + span), in frame time, on all lanes. */
  readonly start: Nanos;
  readonly span: number;
  /** Offset of each lane, which is added to the lane's own time before drawing (see Alignment). */
  readonly offset: ReadonlyMap<string, number>;
  /**
   * The alignment, and the number of the aligned operation, counted from 1. `at` is the aligned frame time. `at` is
   * only present if the aligned frame time also depends on lanes that are not drawn here.
   */
  readonly aligned?: { readonly by: Alignment; readonly n: number; readonly at?: Nanos | null };
  readonly selection: Mark | null;
  /** Marks that the step's sentence mentions at this moment. */
  readonly spoken?: readonly Mark[];
  /** Regions that the step's sentence mentions at this moment. */
  readonly regions?: readonly Region[];
  /** Names of the kinds in focus; all other kinds are muted. If the set is empty, no kind is muted. */
  readonly focus: ReadonlySet<string>;
  /** Whether views draw events only up to the moment (a sweep of the oscilloscope), or in the complete window. */
  readonly reveal: 'moment' | 'window';
  /** Whether each lane stops after the operation with which its window begins. */
  readonly hold?: boolean;
}

/** Returns the current frame, and announces new frames. */
export interface Frames {
  readonly get: () => Frame;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * Gives a canvas its frames, and tells it when to redraw. `text` gives the frames for sentences and tables. While the
 * moment moves, `text` changes ten times a second, always to a frame that is also painted. At rest, text and canvas
 * have the same frame.
 */
export interface FrameSource extends Frames {
  readonly text?: Frames;
}

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
}
