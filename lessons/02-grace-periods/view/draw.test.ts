// SPDX-License-Identifier: GPL-2.0-or-later
/** Draw logs: the picture says what the events say. The window is 1000 px, so that a cell of 100 µs is easy to find. */

import { lightTheme } from '@page/base/theme.ts';
import { indexRun } from '@page/derive/run-index.ts';
import type { Frame, RunIndex } from '@page/derive/types.ts';
import { Store } from '@page/store/store.ts';
import { under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { pictureOf } from '@page/views/timeline/artist.ts';
import { drawPicture } from '@page/views/timeline/draw.ts';
import { rowsOf } from '@page/views/timeline/items.ts';
import { scoreOf } from '@page/views/timeline/score.ts';
import { cell, frameOver, indexOf, storeOf } from '@test/fixtures/drawing.ts';
import { testLesson } from '@test/fixtures/lesson.ts';
import { runMessage, spanBatch } from '@test/fixtures/messages.ts';
import { recordingPen, type Stroke } from '@test/fixtures/pen.ts';
import { syntheticRun } from '@test/fixtures/synthetic.ts';
import { expect, test } from 'vitest';
import { hogLook } from './look.ts';

const width = 140 + 1000 + 14;
const size = { width, height: 600, dpr: 1 };
const score = scoreOf(testLesson, undefined, null, 13, hogLook);

function drawn(index: RunIndex, frame: Frame) {
  const { pen, log } = recordingPen();
  const picture = pictureOf(index, frame, size, score);
  drawPicture(pen, picture, { theme: lightTheme, tiles: namedTiles, stamp: null });
  return { log, picture };
}

/** Cells that a stroke covers, when the window begins at cell 0 and a cell is `px` wide. */
function cellsOf(stroke: Stroke, px: number): [number, number] {
  const [x, , w] = stroke.at as [number, number, number];
  return [Math.round((x - 140) / px), Math.round((x - 140 + w) / px)];
}

const solid = (log: Stroke[], fill: string) =>
  log.filter(
    (s) => s.fill.startsWith(fill) && s.alpha === 1 && ['fill', 'fillRect'].includes(s.what),
  );

const scene = indexOf(`
  srcu
  storm-0  RRSSSSSSRR
  storm-1  rrRRSSSSSR
  storm-2  EEEERRRRRR
  storm-reclaim .OOO......
  grace-period ..AAAC....
  callbacks ......DDW.
  exp-rcu GGGG......
  wake> storm-0 8
`);

test('each state has its own look; a wait that is not the lesson is never orange', () => {
  const { log } = drawn(scene, frameOver(0, 10, 10));
  const px = 100;
  expect(
    solid(log, lightTheme.work)
      .filter((s) => s.at[3]! > 8)
      .map((s) => cellsOf(s, px)),
  ).toEqual([
    [0, 2],
    [8, 10],
    [2, 4],
    [9, 10],
    [4, 10],
  ]);
  expect(solid(log, 'slash').map((s) => cellsOf(s, px))).toEqual([
    [2, 8],
    [4, 9],
  ]);
  const dismissed = solid(log, 'dots').filter((s) => !s.fill.includes('#b'));
  expect(dismissed.map((s) => cellsOf(s, px))).toContainEqual([0, 4]);
  expect(dismissed.every((s) => !s.fill.includes(lightTheme.wait))).toBe(true);
});

test('the strip tells armed, check, delay and wake apart', () => {
  const { log, picture } = drawn(scene, frameOver(0, 10, 10));
  const strip = picture.layout.lanes[0]!.strips[0]!;
  const inStrip = log.filter(
    (s) => s.at[1]! >= strip.top - 3 && s.at[1]! < strip.top + 40 && s.what === 'fill',
  );
  const looks = new Set(inStrip.map((s) => s.fill));
  expect(looks.size).toBeGreaterThanOrEqual(4);
  expect(solid(log, lightTheme.mechanism).map((s) => cellsOf(s, 100))).toEqual([[5, 6]]);
  expect(log.filter((s) => s.what === 'fillText').map((s) => s.text)).toEqual(
    expect.arrayContaining([
      'armed',
      'SRCU grace period',
      'callbacks',
      'expedited RCU',
      'not the lesson',
    ]),
  );
});

test('a wake is a stem from its strip to the hog that it frees, at its moment', () => {
  const { log, picture } = drawn(scene, frameOver(0, 10, 10));
  const [box] = picture.layout.lanes;
  const dots = log.filter(
    (s) => s.what === 'fill' && s.fill === lightTheme.gain && s.at.length === 3,
  );
  expect(dots.length).toBe(1);
  expect(dots[0]!.at[0]).toBe(140 + 800);
  expect(dots[0]!.at[1]).toBe(box!.rows[0]!.top + box!.rows[0]!.height / 2);
});

test('what has not happened yet at the moment is faint, and nothing of it is strong', () => {
  const { log, picture } = drawn(scene, frameOver(0, 10, 3));
  const clips = log.filter((s) => s.what === 'clip');
  expect(clips.some((s) => s.at[0]! + s.at[2]! === 140 + 300)).toBe(true);
  expect(picture.layout.revealX).toBe(440);
  const dots = log.filter(
    (s) => s.what === 'fill' && s.fill === lightTheme.gain && s.at.length === 3,
  );
  expect(dots[0]!.alpha).toBe(0.2);
});

test('afterglow is computed from the moment alone', () => {
  const radius = (moment: number) =>
    drawn(scene, frameOver(0, 10, moment)).log.find(
      (s) => s.fill === lightTheme.gain && s.at.length === 3,
    )!.at[2]!;
  expect(radius(8)).toBeGreaterThan(radius(8.3));
  expect(radius(8.3)).toBeGreaterThan(radius(9));
  expect(radius(9)).toBe(radius(10));
  expect(radius(8)).toBe(radius(8));
});

test('a reader has a crimson border and a cross', () => {
  const { log } = drawn(scene, frameOver(0, 10, 10));
  const crimson = log.filter(
    (s) => s.what === 'stroke' && s.fill === lightTheme.hazard && s.alpha === 1,
  );
  expect(crimson.length).toBeGreaterThanOrEqual(5);
});

test('unknown, idle, lost and ended look different from each other', () => {
  const store = storeOf('srcu\nstorm-0 RRRR..RR', true);
  store.dispatch({
    type: 'loss',
    run_id: 'r',
    arm: 'srcu',
    t0_ns: 4 * cell,
    t1_ns: 6 * cell,
    events: 12,
    where: 'ring buffer',
  });
  const live = indexRun(store.shown()!, testLesson);
  const { log } = drawn(live, frameOver(0, 10, 8));
  const fog = log.find((s) => s.fill.startsWith('fog'))!;
  expect(cellsOf(fog, 100)).toEqual([8, 10]);
  const words = log.filter((s) => s.what === 'fillText').map((s) => s.text);
  expect(words).toContain('not known yet');
  expect(words).toContain('12 events lost');
  const ended = drawn(indexOf('srcu\nstorm-0 RRRR..RR'), frameOver(0, 10, 8));
  expect(ended.log.some((s) => s.fill.startsWith('fog'))).toBe(false);
  expect(ended.picture.layout.lanes[0]!.endX).toBe(940);
});

function runOf(rows: { t0: number; t1: number; kind: number }[]): RunIndex {
  const store = new Store();
  store.lesson.set(testLesson);
  store.dispatch(runMessage('r', ['srcu']));
  store.dispatch({
    type: 'rows',
    run_id: 'r',
    arm: 'srcu',
    rows: [{ row: 0, tid: 1, name: 'storm-0', role: 'thread' }],
  });
  const spans = rows.map((r) => ({ ...r, row: 0 }));
  store.dispatch(spanBatch({ runId: 'r', arm: 'srcu', seq: 0, watermark: 60e9 }, spans));
  return indexRun(store.shown()!, testLesson);
}

test.each([
  ['30 ms', 30e6],
  ['3 s', 3e9],
  ['60 s', 60e9],
])(
  'a wait of 100 ns is at least a pixel in a window of %s, among thousands of spans',
  (_name, span) => {
    const n = 5000;
    const step = span / n;
    const rows = Array.from({ length: n }, (_, i) => ({
      t0: i * step,
      t1: (i + 0.6) * step,
      kind: i % 2,
    }));
    const at = Math.floor(n * 0.37);
    rows.push({ t0: (at + 0.6) * step, t1: (at + 0.6) * step + 100, kind: 3 });
    const index = runOf(rows);
    const frame = { ...frameOver(0, 10, 0), start: 0 as never, span, moment: span as never };
    const { log } = drawn(index, frame);
    const waits = solid(log, lightTheme.wait);
    expect(waits.length).toBeGreaterThanOrEqual(1);
    const x = 140 + ((at + 0.6) * step * 1000) / span;
    for (const wait of waits) {
      expect(wait.at[2]!).toBeGreaterThanOrEqual(1);
      expect(wait.at[3]!).toBeGreaterThanOrEqual(1);
      expect(Math.abs(wait.at[0]! - x)).toBeLessThan(4);
    }
  },
);

test('100,000 spans in a window draw as few marks, and the work share is what it was', () => {
  const store = new Store();
  store.lesson.set(testLesson);
  for (const message of syntheticRun({ hogs: 9, ms: 3000 })) store.dispatch(message);
  const index = indexRun(store.shown()!, testLesson);
  const total = index.lanes.reduce((sum, lane) => sum + lane.spans.length, 0);
  expect(total).toBeGreaterThan(100_000);
  const frame = { ...frameOver(0, 10, 0), start: 0 as never, span: 3e9, moment: 3e9 as never };
  const { picture } = drawn(index, frame);
  const marks = picture.marks.flatMap((lane) => [...lane.rects, ...lane.shares]);
  const n = marks.reduce((sum, list) => sum + list.n, 0);
  expect(n).toBeLessThan(60_000);
  const rwsem = picture.marks[0]!.shares.find((list) => list.style.kind === 0)!;
  let area = 0;
  for (let i = 0; i < rwsem.n * 4; i += 4) area += rwsem.at[i + 2]! * rwsem.at[i + 3]!;
  const lane = index.lanes[0]!;
  let running = 0;
  for (let i = 0; i < lane.spans.length; i++) {
    if (lane.spans.kind[i] === 0) running += lane.spans.t1[i]! - lane.spans.t0[i]!;
  }
  const share = area / (9 * 1000 * picture.layout.lanes[0]!.rows[0]!.height);
  expect(share).toBeCloseTo(running / (9 * 3e9), 1);
});

test('what is under the pointer is what is drawn there, short marks within reach first', () => {
  const { picture } = drawn(scene, frameOver(0, 10, 10));
  const [box] = picture.layout.lanes;
  const rows = rowsOf(scene, picture.layout, score);
  const at = (c: number, row: { top: number; height: number }) =>
    under(rows, 140 + c * 100, row.top + row.height / 2);
  expect(testLesson.kinds[at(4.5, box!.rows[0]!)!.kind]!.name).toBe('wait_srcu');
  expect(testLesson.kinds[at(1.5, box!.rows[3]!)!.kind]!.name).toBe('reader');
  expect(testLesson.kinds[at(5.02, box!.strips[0]!)!.kind]!.name).toBe('gp_check');
  expect(testLesson.kinds[at(4.98, box!.strips[0]!)!.kind]!.name).toBe('gp_check');
  expect(at(9.5, box!.strips[0]!)).toBeNull();
  expect(under(rows, 20, box!.rows[0]!.top)).toBeNull();
});

test('lanes share one axis: the same moment stands at the same x, offsets apart', () => {
  const two = indexOf(`
    rwsem
    storm-0  RRRRRLLLRR
    srcu
    storm-0  RRSSSSSSRR
  `);
  const plain = drawn(two, frameOver(0, 10, 5)).picture.layout;
  expect(plain.lanes.map((box) => box.t0)).toEqual([0, 0]);
  const shifted = { ...frameOver(0, 10, 5), offset: new Map([['srcu', 2 * cell]]) };
  expect(drawn(two, shifted).picture.layout.lanes.map((box) => box.t0)).toEqual([0, -2 * cell]);
});
