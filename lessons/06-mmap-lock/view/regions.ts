// SPDX-License-Identifier: GPL-2.0-or-later
/** The map of the address space: which regions exist, and which threads hold or want a lock at a moment. */

import { t as tr } from '@page/base/lang/t.ts';
import { perVersion, spanAt, spansIn, threadRows } from '@page/derive/query.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import { fitting, mix, type Pen } from '@page/views/paints.ts';
import { plated } from '@page/views/timeline/easel.ts';
import { type Extra, type ExtraAt, type Look, timelineLook } from '@page/views/timeline/score.ts';

/** Where a thread touches pages. */
export interface Region {
  readonly row: number;
  readonly name: string;
  /** Lowest address of a page fault of this thread. */
  readonly lowest: number;
  /** Whether it lies in the region that the writer changes. */
  readonly changed: boolean;
}

export interface Space {
  /** Row of the writer, and the lowest address that it changes; null if no thread changes a region. */
  readonly writer: { readonly row: number; readonly lowest: number } | null;
  /** Regions of the threads that fault, in order of rows. */
  readonly regions: readonly Region[];
}

const nameOf = (index: RunIndex, kind: number) => index.kinds[kind]?.name ?? '';

/** Find the regions of a lane. Addresses come from page faults and from VMAs that are locked for writing. */
export const spaceOf = perVersion((index, lane): Space => {
  const lowest = new Map<number, number>();
  // The row of the workload's other process, the writer, is no row of a thread.
  const writers = new Set(lane.rows.filter(({ role }) => role === 'other').map(({ row }) => row));
  for (const { kind, row, arg } of spansIn(lane, 'function', 0, Number.POSITIVE_INFINITY)) {
    const name = nameOf(index, kind);
    const counts = writers.has(row) ? name === 'vma_writing' : name.startsWith('under_');
    if (counts) lowest.set(row, Math.min(arg, lowest.get(row) ?? Number.POSITIVE_INFINITY));
  }
  const row = [...writers].find((one) => lowest.has(one));
  const writer = row === undefined ? null : { row, lowest: lowest.get(row)! };
  const regions = threadRows(lane)
    .filter((one) => lowest.has(one.row))
    .map((one) => {
      const from = lowest.get(one.row)!;
      return {
        row: one.row,
        name: one.name,
        lowest: from,
        // The kernel maps later regions at lower addresses, so only pages inside the changed region lie above its start.
        changed: writer !== null && from >= writer.lowest,
      };
    });
  return { writer, regions };
});

export type Holds = 'nothing' | 'mmap' | 'vma' | 'waits';

export interface Held {
  /** How mmap_lock is held. */
  readonly mmap: 'free' | 'reading' | 'writing';
  /** Whether the changed VMA is locked for writing, or the writer still waits for page faults in it. */
  readonly changed: 'free' | 'wanted' | 'locked';
  /** What each thread holds or wants, by row. */
  readonly threads: ReadonlyMap<number, Holds>;
}

export function heldAt(index: RunIndex, lane: LaneIndex, t: number): Held {
  const { writer, regions } = spaceOf(index, lane);
  const now = [...spansIn(lane, 'function', t, t + 1)].filter((one) => one.t0 <= t && one.t1 > t);
  const write = [...spansIn(lane, 'track', t, t + 1)].find(
    (one) => nameOf(index, one.kind) === 'write_held' && one.t0 <= t && one.t1 > t,
  );
  const threads = new Map<number, Holds>();
  for (const { row } of regions) {
    const state = spanAt(lane, row, 'state', t);
    const inside = now.filter((one) => one.row === row).map((one) => nameOf(index, one.kind));
    const waits = state !== null && nameOf(index, state.kind) === 'wait_mmap';
    threads.set(
      row,
      waits
        ? 'waits'
        : inside.includes('under_mmap')
          ? 'mmap'
          : inside.includes('under_vma')
            ? 'vma'
            : 'nothing',
    );
  }
  let changed: Held['changed'] = 'free';
  if (writer !== null && write !== undefined)
    for (const span of spansIn(lane, 'function', write.t0, t + 1)) {
      if (span.row !== writer.row || nameOf(index, span.kind) !== 'vma_writing') continue;
      if (span.t0 < write.t0 || span.t0 > t) continue;
      if (span.t1 <= t) changed = 'locked';
      else if (changed === 'free') changed = 'wanted';
    }
  const reading = [...threads.values()].includes('mmap');
  return { mmap: write ? 'writing' : reading ? 'reading' : 'free', changed, threads };
}

const mmapWords: Readonly<Record<Held['mmap'], string>> = {
  free: tr('mmap_lock is free'),
  reading: tr('mmap_lock is held for reading'),
  writing: tr('mmap_lock is held for writing'),
};

const threadWords: Readonly<Record<Holds, string>> = {
  nothing: '',
  mmap: tr('fault under mmap_lock'),
  vma: tr('fault under its VMA lock'),
  waits: tr('waits'),
};

const changedWords: Readonly<Record<Held['changed'], string>> = {
  free: '',
  wanted: tr('waits for a fault'),
  locked: tr('locked for writing'),
};

/** Share of the width that the changed region has, or its words if the threads touch pages in it. */
const wide = 0.4;
const gap = 10;

interface Box {
  readonly x: number;
  readonly width: number;
  readonly colour: string | null;
  readonly words: readonly string[];
  /** Width for the words, if other boxes cover the rest. */
  readonly room?: number;
}

function drawBox(pen: Pen, at: ExtraAt, box: Box, top: number, h: number) {
  const { theme } = at;
  const { x, width, colour, words, room = width } = box;
  pen.fillStyle = colour === null ? theme.paper : mix(colour, theme.paper, 0.3);
  pen.fillRect(x, top, width, h);
  pen.strokeStyle = colour ?? theme.soft;
  pen.lineWidth = colour === null ? 1 : 2;
  pen.strokeRect(x, top, width, h);
  pen.font = `500 ${Math.round(13 * theme.em)}px ${theme.font}`;
  pen.fillStyle = theme.ink;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  const said = fitting(pen, words, room - 8);
  if (pen.measureText(said).width <= room - 8) pen.fillText(said, x + 5, top + h / 2);
}

/** Return wordings from long to short. */
const wordings = (name: string, words: string, short: string): readonly string[] =>
  words === '' ? [name, short] : [`${name}: ${words}`, name, words, short];

/** The number of a thread, as in the names of narrow rows. */
const numberOf = (name: string) => /\d+$/.exec(name)?.[0] ?? '';

function draw(pen: Pen, at: ExtraAt): void {
  const { index, lane, now, left, right, top, height, theme } = at;
  const { writer, regions } = spaceOf(index, lane);
  const held = heldAt(index, lane, Math.min(now, lane.watermark - 1));
  const line = 18 * theme.em;
  const ink = { free: theme.soft, reading: theme.hazard, writing: theme.wait }[held.mmap];
  pen.fillStyle = theme.ink;
  plated(pen, theme, mmapWords[held.mmap], left + 4, top + line / 2, right - left);
  // The frame stands for mmap_lock, which protects all regions.
  const frame = { top: top + line, height: height - line - 3 };
  pen.strokeStyle = ink;
  pen.lineWidth = held.mmap === 'free' ? 1 : 3;
  pen.strokeRect(left + 2, frame.top, right - left - 4, frame.height);
  const inner = { top: frame.top + 5, height: frame.height - 10 };
  const from = left + 2 + gap;
  const whole = right - left - 4 - 2 * gap;
  const faces: Readonly<Record<Holds, string | null>> = {
    nothing: null,
    mmap: theme.hazard,
    vma: theme.gain,
    waits: theme.wait,
  };
  const apart = regions.filter((one) => !one.changed);
  const within = regions.filter((one) => one.changed);
  const share = writer === null ? 0 : within.length > 0 ? 1 : wide;
  const boxOf = (region: Region, x: number, width: number): Box => {
    const holds = held.threads.get(region.row) ?? 'nothing';
    const words = wordings(region.name, threadWords[holds], numberOf(region.name));
    return { x, width, colour: faces[holds], words };
  };
  const each = (whole * (1 - share)) / Math.max(1, apart.length);
  apart.forEach((region, i) => {
    drawBox(pen, at, boxOf(region, from + i * each, each - gap), inner.top, inner.height);
  });
  if (writer === null) return;
  const x = from + apart.length * each * (share === 1 ? 0 : 1);
  const width = from + whole - x;
  const colour = { free: null, wanted: theme.mechanism, locked: theme.wait }[held.changed];
  const words = wordings(tr('the changed region'), changedWords[held.changed], tr('changed'));
  const room = within.length > 0 ? width * wide : width;
  drawBox(pen, at, { x, width, colour, words, room }, inner.top, inner.height);
  const part = (width - room) / Math.max(1, within.length);
  within.forEach((region, i) => {
    const place = x + room + i * part;
    drawBox(pen, at, boxOf(region, place, part - gap), inner.top + 4, inner.height - 8);
  });
}

const regionsPart: Extra = {
  part: 'regions',
  label: tr('address space'),
  height: 64,
  on: (index, lane) => spaceOf(index, lane).regions.length > 0,
  draw,
};

export const regionsLook: Look = { ...timelineLook, extras: [regionsPart] };
