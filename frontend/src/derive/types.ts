// SPDX-License-Identifier: GPL-2.0-or-later
/** Types of an index. A view is a pure function of (index, frame, size); live means that the moment is now. */

import type { Nanos } from '../base/units.ts';
import type { Axis } from '../protocol/lesson.ts';
import type { LaneSample, Loss, Row } from '../store/lane.ts';
import type { LinkTable, OpTable, PointTable, SpanTable } from '../store/tables.ts';

export type { Nanos } from '../base/units.ts';
export type { LaneSample, Loss, Row } from '../store/lane.ts';
export type { LinkTable, OpTable, PointTable, SpanTable } from '../store/tables.ts';

/** How lanes are aligned; see align.ts. */
export type Alignment = 'time' | 'operation' | 'marker' | 'begin';

/** Views draw `mark` kinds from points; these kinds have no spans. */
export type Layer = 'state' | 'function' | 'track' | 'mark';

/** Spans of one (row, layer), sorted by t0, with a level-of-detail pyramid for wide windows. */
export interface Strand {
  readonly row: number;
  readonly layer: Layer;
  /** Indices into the lane's SpanTable, sorted by t0; `length` entries are valid. */
  readonly order: Uint32Array;
  readonly length: number;
  /** Length of the longest span: how far before a moment a span that covers it may begin. */
  readonly longest: number;
  /** Time in state per bucket; bucketNs grows by a factor of 8 per level. */
  readonly levels: readonly LodLevel[];
}

export interface LodLevel {
  readonly bucketNs: number;
  /** Nanoseconds per bucket and local kind: ns[bucket * kinds + local]. */
  readonly ns: Float32Array;
  readonly kinds: number;
  readonly buckets: number;
  /** Local kind -> kind of the lesson. */
  readonly kindOf: Uint8Array;
}

/** Indices of a table in an order other than arrival. */
export interface Order {
  readonly order: Uint32Array;
  readonly length: number;
}

export interface LaneIndex {
  readonly arm: string;
  readonly rows: readonly Row[];
  readonly spans: SpanTable;
  /** Spans that are open at the watermark. Their t1 is the watermark, not an end. */
  readonly open: SpanTable;
  readonly ops: OpTable;
  readonly links: LinkTable;
  /** Single events with their fields, in order of time. */
  readonly points: PointTable;
  readonly strands: readonly Strand[];
  /** Operations in order of their end. */
  readonly opsByEnd: Order;
  readonly linksByTime: Order;
  /** Operations that ended before the oldest one kept. */
  readonly opsEvicted: number;
  /** The lesson's longest wait so far, ns. */
  readonly longestWait: number;
  /** Data of this lane are complete up to here. Later is unknown, not idle. */
  readonly watermark: Nanos;
  /** The guest's monotonic clock at the lane's time 0, ns; null: unknown. */
  readonly startNs: number | null;
  /** Earlier history was evicted. */
  readonly historyFrom: Nanos;
  readonly losses: readonly Loss[];
  readonly ended: boolean;
  readonly failed: boolean;
  strand(row: number, layer: Layer): Strand | null;
  /** Indices in `points` of one name, in order of time; empty for a name that the lesson lacks. */
  pointsOf(name: string): Order;
  /** X-ray samples of a structure, in order of guest time; empty where none were taken. */
  samples(probe: string): readonly LaneSample[];
  /** Probes and lenses with samples. */
  probes(): readonly string[];
  /** Convert a moment of this lane's axis to guest time; the identity on a time axis. */
  guestTime(t: number): Nanos;
  /** Guest time of an entry of `points`, exact on every axis. */
  pointTime(i: number): Nanos;
  /** Layer of a kind; undefined for a kind that the lesson does not declare. */
  layerOf(kind: number): Layer | undefined;
}

/** What derivations need of a kind. */
export interface KindFacts {
  readonly name: string;
  readonly title: string;
  readonly colour: 'work' | 'wait' | 'mechanism' | 'gain' | 'vain' | 'hazard' | 'idle' | 'other';
  readonly layer: Layer;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  /** False: drawn and named, but no part of the lesson. */
  readonly lesson: boolean;
}

export interface RunIndex {
  readonly runId: string;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
  readonly live: boolean;
  /** A recording arrives in parts; `unknown`: its size is not announced. */
  readonly reading: 'unknown' | 'coming' | 'whole';
  readonly lanes: readonly LaneIndex[];
  readonly kinds: readonly KindFacts[];
  /** What the axis counts instead of guest time; null: guest time. */
  readonly axis: Axis | null;
  /** The order of points on the axis depends on how the host scheduled the vCPUs. */
  readonly hostOrder: boolean;
  /** The point that is a beat; null: the end of an operation. */
  readonly beat: string | null;
  /** Knobs and workload of the run. */
  readonly params: Readonly<Record<string, number>>;
  readonly workload: string;
  /** Length of a tick, ns (HZ of the base's configuration). */
  readonly tickNs: number;
  /** Increases with every change of any lane. */
  readonly version: number;
}

/** A mark that a pointer or key selected: enough to find its raw records again. */
export interface Mark {
  readonly arm: string;
  readonly table: 'spans' | 'ops' | 'links' | 'points' | 'samples';
  readonly id: number;
  readonly row: number;
  readonly kind: number;
  readonly t0: Nanos;
  readonly t1: Nanos;
  /** Still open at the watermark. */
  readonly open?: boolean;
}

/** A part of a lane's picture, by a name that the view defines. */
export interface Region {
  readonly arm: string;
  readonly name: string;
}

export interface Frame {
  readonly axis: 'time' | 'operation' | 'access';
  /** The current moment; drawn as the playhead. */
  readonly moment: Nanos;
  /** The window shown: [start, start + span). The same for all lanes. */
  readonly start: Nanos;
  readonly span: number;
  /** Added to each lane's time before drawing (alignment by marker or by operation). */
  readonly offset: ReadonlyMap<string, number>;
  /** Alignment and its operation (from 1); `at`: the aligned frame time, if lanes that are not drawn here count. */
  readonly aligned?: { readonly by: Alignment; readonly n: number; readonly at?: Nanos | null };
  readonly selection: Mark | null;
  /** Marks that the step's sentence mentions at this moment. */
  readonly spoken?: readonly Mark[];
  /** Regions that the sentence mentions. */
  readonly regions?: readonly Region[];
  /** Names of kinds in focus; others are muted. Empty: all. */
  readonly focus: ReadonlySet<string>;
  /** Whether to draw only what happened up to the moment (oscilloscope sweep) or the whole window. */
  readonly reveal: 'moment' | 'window';
  /** Each lane stops at the end of the operation that its window begins with. */
  readonly hold?: boolean;
}

/** The current frame, and a subscription to new ones. */
export interface Frames {
  readonly get: () => Frame;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * Where a canvas gets its frame, and when to redraw. `text`: the frame of sentences and tables. While the moment moves
 * it updates ten times a second, in a frame that is painted; at rest it is the same frame.
 */
export interface FrameSource extends Frames {
  readonly text?: Frames;
}

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
}
