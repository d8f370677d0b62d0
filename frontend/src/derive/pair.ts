// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Two runs of a lesson on one axis. A common index of all lanes drives playback, alignment and scrubber, as if both
 * runs were one. Each lane is drawn from the index of its own run, because knobs and workload belong to a run.
 */

import { type Offsets, together } from './align.ts';
import type { Frame, FrameSource, Frames, LaneIndex, Mark, Nanos, RunIndex } from './types.ts';

export type Side = 'first' | 'second';
export const sides: readonly Side[] = ['first', 'second'];

/** The name of a lane among the lanes of both runs. */
export function laneKey(side: Side, arm: string): string {
  return `${side}:${arm}`;
}

const made = new WeakMap<RunIndex, { other: RunIndex; arms: string; index: RunIndex }>();

/**
 * A common index of the lanes of both runs. For each arm, the lane of the first run is followed by the lane of the
 * second run. Returns the same object while nothing changes.
 */
export function pairIndex(one: RunIndex, other: RunIndex, arms: readonly string[]): RunIndex {
  const key = arms.join('\n');
  const known = made.get(one);
  if (known?.other === other && known.arms === key) return known.index;
  const runs = { first: one, second: other };
  const lanes = arms.flatMap((arm) =>
    sides.flatMap((side) =>
      runs[side].lanes.filter((lane) => lane.arm === arm).map((lane) => keyed(lane, side)),
    ),
  );
  const states = [one.reading, other.reading];
  const reading = states.includes('coming') ? 'coming' : states[states[0] === 'whole' ? 1 : 0]!;
  const runId = `${one.runId} ${other.runId}`;
  const index: RunIndex = { ...one, runId, reading, lanes, live: one.live || other.live };
  made.set(one, { other, arms: key, index });
  return index;
}

/** Return a lane under its name among the lanes of both runs. */
function keyed(lane: LaneIndex, side: Side): LaneIndex {
  return {
    arm: laneKey(side, lane.arm),
    rows: lane.rows,
    spans: lane.spans,
    open: lane.open,
    ops: lane.ops,
    links: lane.links,
    points: lane.points,
    strands: lane.strands,
    opsByEnd: lane.opsByEnd,
    linksByTime: lane.linksByTime,
    opsEvicted: lane.opsEvicted,
    longestWait: lane.longestWait,
    watermark: lane.watermark,
    startNs: lane.startNs,
    historyFrom: lane.historyFrom,
    losses: lane.losses,
    ended: lane.ended,
    failed: lane.failed,
    strand: (row, layer) => lane.strand(row, layer),
    pointsOf: (name) => lane.pointsOf(name),
    samples: (probe) => lane.samples(probe),
    probes: () => lane.probes(),
    guestTime: (t) => lane.guestTime(t),
    pointTime: (i) => lane.pointTime(i),
    layerOf: (kind) => lane.layerOf(kind),
  };
}

/**
 * The common frame of both runs, reduced to the lanes of one run. `at` is the frame time at which all lanes are
 * aligned.
 */
export function frameOfSide(frame: Frame, side: Side, offset: Offsets, at: Nanos | null): Frame {
  const { aligned, selection } = frame;
  return {
    ...frame,
    offset,
    ...(aligned && { aligned: { ...aligned, at } }),
    selection: selection === null ? null : markOfSide(selection, side),
  };
}

/** The offsets of one run's lanes, by arm. */
export function offsetOfSide(offset: Offsets, side: Side): Offsets {
  const prefix = laneKey(side, '');
  return new Map(
    [...offset].flatMap(([key, t]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), t]] : [],
    ),
  );
}

function markOfSide(mark: Mark, side: Side): Mark | null {
  const prefix = laneKey(side, '');
  return mark.arm.startsWith(prefix) ? { ...mark, arm: mark.arm.slice(prefix.length) } : null;
}

/** The frames for one run. They stay the same objects while the common frame and its offsets are unchanged. */
export function framesOfSide(
  both: FrameSource,
  side: Side,
  index: () => RunIndex | null,
): FrameSource {
  const own = sideOf(both, side, index);
  return both.text === undefined ? own : { ...own, text: sideOf(both.text, side, index) };
}

function sideOf(both: Frames, side: Side, index: () => RunIndex | null): Frames {
  let from: Frame | null = null;
  let offset: Offsets = new Map();
  let own: Frame | null = null;
  return {
    subscribe: both.subscribe,
    get: () => {
      const frame = both.get();
      if (frame === from && own !== null) return own;
      if (frame.offset !== from?.offset) offset = offsetOfSide(frame.offset, side);
      from = frame;
      const lanes = index();
      const { by, n } = frame.aligned ?? { by: 'time', n: 1 };
      own = frameOfSide(frame, side, offset, lanes && together(lanes, by, n).at);
      return own;
    },
  };
}
