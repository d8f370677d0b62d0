// SPDX-License-Identifier: GPL-2.0-or-later
/** The view contract. A view is a pure function of (index, frame, size): live is only the case where the moment is now. */

import type { Nanos } from '../base/units.ts';
import type { Axis } from '../protocol/lesson.ts';
import type { LaneSample, Loss, Row } from '../store/lane.ts';
import type { LinkTable, OpTable, PointTable, SpanTable } from '../store/tables.ts';

export type { Nanos } from '../base/units.ts';
export type { LaneSample, Loss, Row } from '../store/lane.ts';
export type { LinkTable, OpTable, PointTable, SpanTable } from '../store/tables.ts';

/** How lanes are laid over each other; see align.ts. */
export type Alignment = 'time' | 'operation' | 'marker' | 'begin';

/** `mark` kinds are drawn by the view, out of points; they have no spans. */
export type Layer = 'state' | 'function' | 'track' | 'mark';

/** Spans of one (row, layer), sorted by t0, with a level-of-detail pyramid for far zooms. */
export interface Strand {
  readonly row: number;
  readonly layer: Layer;
  /** Indices into the lane's SpanTable, sorted by t0; `length` valid entries. */
  readonly order: Uint32Array;
  readonly length: number;
  /** The longest span: how far before a moment a span that covers it may begin. */
  readonly longest: number;
  /** Time in state per bucket; bucketNs grows by 8 with the level. */
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
  /** Spans still open at the watermark. Their t1 is the watermark, not an end. */
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
  /** The longest wait of the lesson so far, ns. */
  readonly longestWait: number;
  /** Data of this lane are complete up to here. Later is unknown, not idle. */
  readonly watermark: Nanos;
  /** The guest's monotonic clock where this lane's time is 0, ns; null: not known. */
  readonly startNs: number | null;
  /** Earlier than this is history that was evicted. */
  readonly historyFrom: Nanos;
  readonly losses: readonly Loss[];
  readonly ended: boolean;
  readonly failed: boolean;
  strand(row: number, layer: Layer): Strand | null;
  /** Places in `points` of one name, in order of time; none for a name that the lesson lacks. */
  pointsOf(name: string): Order;
  /** What the x-ray saw of a structure, in order of guest time; none where it did not look. */
  samples(probe: string): readonly LaneSample[];
  /** Probes and lenses that have given samples. */
  probes(): readonly string[];
  /** Guest time of a moment of this lane's axis; the moment itself where the axis is time. */
  guestTime(t: number): Nanos;
  /** Guest time of an entry of `points`, exact on every axis. */
  pointTime(i: number): Nanos;
  /** Layer of a kind; undefined for a number the lesson does not know. */
  layerOf(kind: number): Layer | undefined;
}

/** What a derivation must know of a kind. */
export interface KindFacts {
  readonly name: string;
  readonly title: string;
  readonly colour: 'work' | 'wait' | 'mechanism' | 'gain' | 'vain' | 'hazard' | 'idle' | 'other';
  readonly layer: Layer;
  readonly evidence: 'measured' | 'counted' | 'modelled';
  /** false: drawn, named and dismissed. */
  readonly lesson: boolean;
}

export interface RunIndex {
  readonly runId: string;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
  readonly live: boolean;
  /** A recording comes in part by part; `unknown`: nobody says when it is whole. */
  readonly reading: 'unknown' | 'coming' | 'whole';
  readonly lanes: readonly LaneIndex[];
  readonly kinds: readonly KindFacts[];
  /** What the axis counts in place of guest time; null: guest time. */
  readonly axis: Axis | null;
  /** Points of the axis stand in the order in which the host happened to run the CPUs. */
  readonly hostOrder: boolean;
  /** The point that a beat is; null: the end of an operation. */
  readonly beat: string | null;
  /** Knobs and workload of the run. */
  readonly params: Readonly<Record<string, number>>;
  readonly workload: string;
  /** Length of a tick, ns (HZ of the base config). */
  readonly tickNs: number;
  /** Rises with every change of any lane. */
  readonly version: number;
}

/** A mark that was pointed at: enough to find its raw records again. */
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

/** A part of a lane's picture by its name, which the view knows. */
export interface Region {
  readonly arm: string;
  readonly name: string;
}

export interface Frame {
  readonly axis: 'time' | 'operation' | 'access';
  /** The moment that is now on this frame; drawn as the playhead. */
  readonly moment: Nanos;
  /** The window shown: [start, start + span). The same for all lanes. */
  readonly start: Nanos;
  readonly span: number;
  /** Added to each lane's time before drawing (alignment by marker or by operation). */
  readonly offset: ReadonlyMap<string, number>;
  /** By what they are aligned, and at which operation (from 1); `at`: where that is, if lanes not drawn here count. */
  readonly aligned?: { readonly by: Alignment; readonly n: number; readonly at?: Nanos | null };
  readonly selection: Mark | null;
  /** Marks that the step's sentence speaks of at this moment. */
  readonly spoken?: readonly Mark[];
  /** Parts of the picture that it speaks of and that are no single marks. */
  readonly regions?: readonly Region[];
  /** Kind names in focus; others are muted. Empty: all. */
  readonly focus: ReadonlySet<string>;
  /** Reveal: only what happened up to the moment is drawn (oscilloscope sweep) or the whole window. */
  readonly reveal: 'moment' | 'window';
  /** Each lane stands still when the operation is over that its window begins with. */
  readonly hold?: boolean;
}

/** A frame, and a call for each new one. */
export interface Frames {
  readonly get: () => Frame;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * Where a canvas gets its frame from, and when to draw again. `text`: the frame that sentences and tables are of; while
 * a moment moves it follows ten times a second, in the frame that is painted then, and at rest it is the same frame.
 */
export interface FrameSource extends Frames {
  readonly text?: Frames;
}

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
}
