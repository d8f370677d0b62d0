// SPDX-License-Identifier: GPL-2.0-or-later
/** The view contract. A view is a pure function of (index, frame, size): live is only the case where the moment is now. */

/** Nanoseconds since this lane's workload start. Exact up to 104 days. */
export type Nanos = number & { readonly __brand: 'ns' };

export interface Row {
  readonly row: number;
  readonly tid: number;
  readonly name: string;
  readonly role: 'hog' | 'reader' | 'track' | 'other';
}

/** Structure of arrays; `length` valid entries; capacity may be larger. Per table sorted by t0 within a row. */
export interface SpanTable {
  readonly length: number;
  readonly t0: Float64Array;
  readonly t1: Float64Array;
  readonly row: Int32Array;
  readonly kind: Uint8Array;
  readonly cpu: Int16Array;
  readonly arg: Float64Array;
  readonly id: Uint32Array;
}

export interface OpTable {
  readonly length: number;
  readonly t0: Float64Array;
  readonly t1: Float64Array;
  readonly row: Int32Array;
  readonly ok: Uint8Array;
  readonly id: Uint32Array;
}

export interface LinkTable {
  readonly length: number;
  readonly t: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly kind: Uint8Array;
  readonly id: Uint32Array;
}

export interface Loss {
  readonly t0: Nanos;
  readonly t1: Nanos;
  readonly events: number;
  readonly where: string;
}

/** Spans of one (row, layer), sorted by t0, with a level-of-detail pyramid for far zooms. */
export interface Strand {
  readonly row: number;
  readonly layer: 'state' | 'function' | 'track';
  /** Indices into the lane's SpanTable, sorted by t0. */
  readonly order: Uint32Array;
  /** Time in state per bucket: levels[k].bucketNs doubles by 8 with k; dominant kind and occupied share per bucket. */
  readonly levels: readonly LodLevel[];
}

export interface LodLevel {
  readonly bucketNs: number;
  /** per bucket, per kind: nanoseconds in that kind (row-major: bucket * kinds + kind). */
  readonly ns: Float32Array;
  readonly kinds: number;
  readonly buckets: number;
}

export interface LaneIndex {
  readonly arm: string;
  readonly rows: readonly Row[];
  readonly spans: SpanTable;
  readonly ops: OpTable;
  readonly links: LinkTable;
  readonly strands: readonly Strand[];
  /** Data of this lane are complete up to here. Later is unknown, not idle. */
  readonly watermark: Nanos;
  readonly losses: readonly Loss[];
  readonly ended: boolean;
}

export interface RunIndex {
  readonly runId: string;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
  readonly lanes: readonly LaneIndex[];
}

/** A mark that was pointed at: enough to find its raw records again. */
export interface Mark {
  readonly arm: string;
  readonly table: 'spans' | 'ops' | 'links';
  readonly id: number;
  readonly row: number;
  readonly kind: number;
  readonly t0: Nanos;
  readonly t1: Nanos;
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
  readonly selection: Mark | null;
  /** Kind names in focus; others are muted. Empty: all. */
  readonly focus: ReadonlySet<string>;
  /** Reveal: only what happened up to the moment is drawn (oscilloscope sweep) or the whole window. */
  readonly reveal: 'moment' | 'window';
}

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly dpr: number;
}
