// SPDX-License-Identifier: GPL-2.0-or-later
/** The layout: lanes are below each other on one time axis. Each lane is a stack of bands. Pure. */

import { laneTime } from '@page/derive/align.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Drawing, Laid, LaidLane } from '@page/views/contract.ts';
import { type Lives, livesOf, never, type Queues, queuesFor } from './lives.ts';

// Chooses the inode that is enlarged: the inode of the selected mark, or the inode that is reused most often.

interface Fact {
  readonly lane: LaneIndex;
  readonly lives: Lives;
}

const inodeMarks: ReadonlySet<string> = new Set([
  'alive',
  'queued',
  'free',
  'shadow',
  'early',
  'reuse',
]);

function heroOf({ index, frame }: Drawing, facts: readonly Fact[]): number | null {
  const { selection } = frame;
  const kind = selection === null ? undefined : index.kinds[selection.kind]?.name;
  if (selection !== null && kind !== undefined && inodeMarks.has(kind)) return selection.row;
  return commonest(facts.map((fact) => fact.lives));
}

/** Weight of an early reuse, small enough to decide only between inodes that are reused equally often. */
const tieBreak = 1e-4;

/**
 * Cache of results of commonest(). The key is the first lane, and each entry lists all its lanes. Each frame needs the
 * result, but the result changes only when a new life begins.
 */
const cached = new WeakMap<
  Lives,
  { readonly lanes: readonly Lives[]; readonly ino: number | null }[]
>();

/**
 * Return the inode that is reused most often. If an inode has different numbers of reuses on different lanes, the
 * smallest number counts.
 */
export function commonest(lanes: readonly Lives[]): number | null {
  const first = lanes[0];
  if (first === undefined) return null;
  const known = cached.get(first) ?? [];
  const same = known.find(
    (one) => one.lanes.length === lanes.length && lanes.every((l, i) => l === one.lanes[i]),
  );
  if (same !== undefined) return same.ino;
  const ino = search(first, lanes);
  cached.set(first, [...known.slice(-3), { lanes, ino }]);
  return ino;
}

function search(first: Lives, lanes: readonly Lives[]): number | null {
  let best: { ino: number; times: number } | null = null;
  for (const ino of first.inos) {
    const often = Math.min(...lanes.map((lives) => returns(lives, ino)));
    const early = (first.byIno.get(ino) ?? []).filter((life) => life.early).length;
    const times = often + early * tieBreak;
    if (best === null || times > best.times) best = { ino, times };
  }
  return best?.ino ?? null;
}

function returns(lives: Lives, ino: number): number {
  return (lives.byIno.get(ino) ?? []).filter((life) => life.next < never).length;
}

export type BandName =
  | 'flow'
  | 'thread'
  | 'inode'
  | 'inodes'
  | 'worker'
  | 'queue'
  | 'ticks'
  | 'grace';

export interface Band {
  readonly name: BandName;
  readonly top: number;
  readonly height: number;
  /** The CPU of the band's worker and queue; 0 in other bands. */
  readonly cpu: number;
}

export interface LaneBox extends LaidLane {
  readonly lane: LaneIndex;
  readonly lives: Lives;
  readonly queues: Queues;
  readonly bands: readonly Band[];
  readonly bodyTop: number;
  readonly bottom: number;
  /** The lane's own time at the left edge of the window. */
  readonly t0: number;
  /** The moment in the lane's own time. */
  readonly now: number;
  /** The enlarged inode; null if no inode was seen. */
  readonly hero: number | null;
  /** The inodes in the band of thin rows (the weave), one row each. */
  readonly rows: readonly number[];
  /** The backlog limit: the number of inodes that can wait on a CPU. */
  readonly limit: number;
}

export interface Layout extends Laid {
  readonly lanes: readonly LaneBox[];
  readonly left: number;
  readonly right: number;
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly axisY: number;
  readonly nsPerPx: number;
  readonly fontSize: number;
  readonly em: number;
  readonly revealX: number;
  readonly playheadX: number;
  /** Whether there is room for the names of bands at the left. */
  readonly margin: boolean;
  /** Length of the longest queue on any lane. All queues are drawn to the same scale. */
  readonly deepest: number;
}

/** XFS_INODEGC_MAX_BACKLOG of 6.1 and 7.3: four chunks of 64 inodes. */
const backlog = 256;

/**
 * Four numbers for each band. The first three are the band's height, px at 13 px text, with one lane, with two or three
 * lanes, and with more lanes. The fourth number is the band's share of spare room.
 */
const sizes: Readonly<Record<BandName, readonly [number, number, number, number]>> = {
  flow: [104, 100, 84, 0.3],
  thread: [18, 18, 15, 0],
  inode: [156, 104, 60, 1],
  inodes: [128, 96, 64, 1.2],
  worker: [16, 16, 14, 0],
  queue: [92, 74, 50, 1],
  ticks: [12, 12, 10, 0],
  grace: [18, 18, 15, 0],
};

/** In a low window with many lanes, the heights of bands that do not stretch are multiplied by this factor. */
const tight = 0.75;

const order: readonly BandName[] = [
  ...(['flow', 'thread', 'inode', 'inodes', 'worker', 'queue', 'ticks', 'grace'] as const),
];
/** Gap between bands, px: with few lanes, with many lanes, and with many lanes in a low window. */
const gaps = [9, 5, 3] as const;
/** The largest number of lanes that counts as few. */
const few = 3;
const axisHeight = 30;
const headRoom = 28;
const mostStretch = 2.4;

/**
 * Return the height of a row of the weave, px. A height above 1 px is rounded down, so that all rows are equally high.
 */
export function pitchIn(band: Band, rows: number): number {
  const pitch = band.height / Math.max(1, rows);
  return pitch < 1 ? pitch : Math.floor(pitch);
}

function shown(name: BandName, show: readonly string[] | undefined): boolean {
  return show === undefined || show.includes(name) || name === 'grace' || name === 'thread';
}

export function namesOf(lesson: Pick<Lesson, 'points'>): readonly string[] {
  return lesson.points.map((point) => point.name);
}

export function kindAt(index: Pick<RunIndex, 'kinds'>, name: string): number {
  return index.kinds.findIndex((kind) => kind.name === name);
}

/** Return the lives and queues of a lane. */
export function lifeOf(
  index: RunIndex,
  lane: LaneIndex,
  lesson: Pick<Lesson, 'points'>,
): { readonly lives: Lives; readonly queues: Queues } {
  const names = namesOf(lesson);
  const lives = livesOf(lane, names, kindAt(index, 'gp'), index.runId);
  return { lives, queues: queuesFor(lives, lane.points, names) };
}

/** Return the rows of the workload's processes, in order. */
export function processesOf(lane: Pick<LaneIndex, 'rows'>): LaneIndex['rows'] {
  return lane.rows.filter((row) => row.role !== 'track');
}

/** Return the backlog limit on an arm: the number of inodes that can wait on a CPU. */
export function limitOf(
  { params }: Pick<RunIndex, 'params'>,
  lesson: Pick<Lesson, 'arms' | 'params'>,
  arm: string,
): number {
  const base = lesson.arms.find(({ name }) => name === arm)?.base;
  const lacksKnob = base && lesson.params['backlog']?.absent_on.includes(base);
  return lacksKnob ? backlog : backlog * (params['backlog'] ?? 1);
}

interface Plan {
  readonly name: BandName;
  readonly cpu: number;
  readonly natural: number;
  readonly stretch: number;
}

function plansOf(show: readonly string[] | undefined, queues: Queues, em: number, lanes: number) {
  const plans: Plan[] = [];
  for (const name of order) {
    if (!shown(name, show)) continue;
    const natural = sizes[name][lanes === 1 ? 0 : lanes <= few ? 1 : 2];
    const stretch = sizes[name][3];
    const cpus = name === 'queue' || name === 'worker' ? queues.cpus.map((q) => q.cpu) : [0];
    for (const cpu of cpus.length === 0 ? [0] : cpus)
      plans.push({ name, cpu, natural: natural * em, stretch });
  }
  return plans;
}

/** Return the preferred height of the picture, px. */
export function naturalHeight(
  index: RunIndex,
  lesson: Lesson,
  show: readonly string[] | undefined,
  headerHeight: number,
  fontSize: number,
): number {
  const em = fontSize / 13;
  const lanes = index.lanes.map((lane) => {
    const plans = plansOf(show, lifeOf(index, lane, lesson).queues, em, index.lanes.length);
    const gap = gapOf(index.lanes.length);
    return headerHeight + 8 + plans.reduce((sum, p) => sum + p.natural + gap, 0);
  });
  return headRoom * em + axisHeight * em + lanes.reduce((a, b) => a + b, 0);
}

/** Number of inodes that XFS allocates together. */
const chunk = 64;

/**
 * Return the inodes in the rows of the weave, which are the same on every lane. If an inode is enlarged, return at most
 * `chunk` inodes, including the enlarged inode.
 */
export function rowsOf(lanes: readonly Lives[], hero: number | null): readonly number[] {
  const all = [...new Set(lanes.flatMap((lives) => lives.inos))].sort((a, b) => a - b);
  if (hero === null || all.length <= chunk) return all;
  const at = all.indexOf(hero);
  const from = Math.max(0, Math.min(Math.floor(at / chunk) * chunk, all.length - chunk));
  return all.slice(from, from + chunk);
}

function gapOf(lanes: number): number {
  return lanes > few ? gaps[1] : gaps[0];
}

function heightOf(plan: Plan, factor: number): number {
  return Math.round(plan.natural * Math.max(leastSqueeze, 1 + plan.stretch * factor));
}

/** Return lower bands without the grace periods. They are used if more than three lanes would otherwise not fit. */
function lowest(plans: Plans): Plans {
  return plans.map((lane) =>
    lane
      .filter(({ name }) => name !== 'grace')
      .map((plan) => (plan.stretch === 0 ? { ...plan, natural: plan.natural * tight } : plan)),
  );
}

/**
 * Below this stretch factor, leave out the weave if the enlarged inode is shown, or else the cells (`flow`) if the
 * queue is shown.
 */
const crowded = -0.5;
const leastSqueeze = 0.3;

type Plans = readonly (readonly Plan[])[];

/** Return the factor by which elastic bands grow or shrink so that the lanes fill the room. */
function factorOf(plans: Plans, room: number, gap: number): number {
  const all = plans.flat();
  const natural = all.reduce((sum, p) => sum + p.natural + gap, 0);
  const weight = all.reduce((sum, p) => sum + p.natural * p.stretch, 0);
  return weight === 0 ? 0 : Math.min((room - natural) / weight, mostStretch - 1);
}

/** Return the bands of each lane, their stretch factor, and the gap between bands. */
function fitted(
  queues: readonly Queues[],
  show: readonly string[] | undefined,
  em: number,
  room: number,
): { readonly plans: Plans; readonly factor: number; readonly gap: number } {
  const plans = queues.map((one) => plansOf(show, one, em, queues.length));
  const gap = gapOf(queues.length);
  const factor = factorOf(plans, room, gap);
  const names = new Set(plans.flat().map((p) => p.name));
  if (factor < crowded && names.has('inode') && names.has('inodes')) {
    const fewer = [...names].filter((name) => name !== 'inodes');
    return fitted(queues, fewer, em, room);
  }
  if (factor < crowded && names.has('flow') && names.has('queue')) {
    const fewer = [...names].filter((name) => name !== 'flow');
    return fitted(queues, fewer, em, room);
  }
  const least = plans.flat().reduce((sum, p) => sum + heightOf(p, -1) + gap, 0);
  if (queues.length <= few || least <= room) return { plans, factor, gap };
  const low = lowest(plans);
  return { plans: low, factor: factorOf(low, room, gaps[2]), gap: gaps[2] };
}

export function layoutOf(drawing: Drawing, headerHeight: number, fontSize: number): Layout {
  const { index, frame, size, lesson, show } = drawing;
  const em = fontSize / 13;
  const margin = size.width >= 640;
  const left = Math.round((margin ? 122 : 14) * em);
  const right = size.width - 14;
  const nsPerPx = frame.span / Math.max(1, right - left);
  const facts = index.lanes.map((lane) => ({ lane, ...lifeOf(index, lane, lesson) }));
  const queues = facts.map((fact) => fact.queues);
  const fixed = (headRoom + axisHeight) * em + facts.length * (headerHeight + 8);
  const { plans, factor, gap } = fitted(queues, show, em, size.height - fixed);
  const hero = heroOf(drawing, facts);
  const lives = facts.map((fact) => fact.lives);
  const rows = rowsOf(lives, hero);
  let y = headRoom * em;
  const lanes = facts.map(({ lane, lives, queues }, i): LaneBox => {
    const top = y;
    y += headerHeight + 6;
    const bodyTop = y;
    const bands = plans[i]!.map((plan): Band => {
      const height = heightOf(plan, factor);
      const band = { name: plan.name, top: y, height, cpu: plan.cpu };
      y += height + gap;
      return band;
    });
    const bottom = y - gap;
    y += 2;
    return {
      ...{ arm: lane.arm, left: margin ? left : 4, top, width: right - (margin ? left : 4) },
      ...{ lane, lives, queues, bands, bodyTop, bottom },
      t0: laneTime(frame.offset, lane.arm, frame.start),
      now: laneTime(frame.offset, lane.arm, frame.moment),
      hero,
      rows,
      limit: limitOf(index, lesson, lane.arm),
    };
  });
  const playheadX = left + (frame.moment - frame.start) / nsPerPx;
  const revealX = frame.reveal === 'window' ? right : Math.max(left, Math.min(right, playheadX));
  return {
    ...{ lanes, left, right, width: size.width, height: size.height, top: headRoom * em },
    ...{ axisY: y, nsPerPx, fontSize, em, revealX, playheadX, margin },
    deepest: Math.max(0, ...facts.map((fact) => fact.queues.deepest)),
  };
}

/** Return the height that the bands and the axis take in this layout, px. */
export function leastHeight({ axisY, em }: Layout): number {
  return axisY + axisHeight * em;
}

/**
 * Return the x at which a time of a lane is drawn. For times far outside the window, x is at most 50 px beyond the
 * edge.
 */
export function xOf(layout: Layout, box: LaneBox, t: number): number {
  const x = layout.left + (t - box.t0) / layout.nsPerPx;
  return Math.max(layout.left - 50, Math.min(layout.right + 50, x));
}

/** Return the time of a lane at x, the inverse of xOf(). */
export function timeAt(layout: Layout, box: LaneBox, x: number): number {
  return box.t0 + (x - layout.left) * layout.nsPerPx;
}
