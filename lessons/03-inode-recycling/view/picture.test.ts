// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture, pointing, sentences, answers: they say what the events say. */

import { lightTheme } from '@page/base/theme.ts';
import { withFrozenFigures } from '@page/derive/figures.ts';
import type { Mark } from '@page/derive/types.ts';
import type { ArrowKey } from '@page/views/contract.ts';
import { place, step, under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { describe as words } from './describe.ts';
import { pitchOf } from './draw-flow.ts';
import { inodeFrame, inodeIndex, inodeLesson, us } from './fixtures/inodes.ts';
import { view } from './index.tsx';
import { layoutOf, xOf } from './layout.ts';
import { moments } from './moments.ts';
import { rowsOf } from './point.ts';
import { ourLines, publishedLines } from './sweep.tsx';
import { answers, counts, sentences, summary, table } from './words.ts';

const text = `
  stock
  10 fresh 7
  55 queued 7 1
  60 batch 1
  65 inactivated 7
  70 batch_done 1
  80 reuse 7 0
  200 queued 7 1
  220 inactivated 7
  400 reuse 7 1
  gp 58 100
  gp 240 300
  wait-at-recycle
  10 fresh 7
  55 queued 7 1
  65 inactivated 7
  80 gp_wait 7 1
  110 gp_wait_done 7 1 30000
  110 reuse 7 1
  gp 58 100
`;

const index = inodeIndex(text);
const size = { width: 1136, height: 700, dpr: 1 };

function drawingAt(moment: number, show?: readonly string[]) {
  const frame = inodeFrame(0, 500, moment);
  return {
    index,
    frame,
    size,
    lesson: inodeLesson,
    theme: lightTheme,
    ...(show ? { show: [...show] } : {}),
  };
}

test('a cross and a line in crimson stand where a life begins inside the shadow, and nowhere else', () => {
  const { pen, log } = recordingPen();
  const drawing = drawingAt(499, ['inode']);
  const artist = view.artist(drawing.lesson, drawing.show);
  artist.draw(pen, artist.layout(drawing, 34, 13), drawing, null, namedTiles);
  const lines = log.filter((s) => s.what === 'fillRect' && s.fill === lightTheme.hazard);
  const layout = layoutOf(drawingAt(499, ['inode']), 34, 13);
  const at = xOf(layout, layout.lanes[0]!, 80 * us);
  expect(lines).toHaveLength(1);
  expect(Math.abs(lines[0]!.at[0]! - at)).toBeLessThan(2);
  const green = log.filter((s) => s.what === 'fillRect' && s.fill === lightTheme.gain);
  expect(green).toHaveLength(2);
});

test('what is pointed at is what is drawn there', () => {
  const layout = layoutOf(drawingAt(499, ['inode', 'inodes']), 34, 13);
  const [box, other] = layout.lanes;
  const hero = box!.bands.find((b) => b.name === 'inode')!;
  const kindAt = (t: number, y: number, lane = box!) =>
    index.kinds[under(rowsOf(index, layout), xOf(layout, lane, t * us), y)?.kind ?? -1]?.name;
  expect(kindAt(30, hero.top + 8)).toBe('alive');
  expect(kindAt(58, hero.top + 8)).toBe('queued');
  expect(kindAt(80, hero.top + 8)).toBe('early');
  expect(kindAt(150, hero.top + 8)).toBe('alive');
  expect(kindAt(300, hero.top + 8)).toBe('free');
  const low = other!.bands.find((b) => b.name === 'inode')!;
  expect(kindAt(95, low.top + 8, other!)).toBe('wait_gp');
  const weave = box!.bands.find((b) => b.name === 'inodes')!;
  expect(kindAt(90, weave.top + 1)).toBe('early');
  const grace = box!.bands.find((b) => b.name === 'grace')!;
  expect(kindAt(80, grace.top + 5)).toBe('gp');
});

test('arrow keys go from turn to turn, and to the next lane', () => {
  const drawing = drawingAt(499, ['inode']);
  const artist = view.artist(inodeLesson, drawing.show);
  const layout = artist.layout(drawing, 34, 13);
  const next = (from: Mark | null, key: ArrowKey) => step(artist, layout, drawing, from, key);
  const first = next(null, 'ArrowRight')!;
  expect(first.row).toBe(7);
  const second = next(first, 'ArrowRight')!;
  expect(second.t0).toBeGreaterThanOrEqual(first.t0);
  expect(place(artist, layout, drawing, second)).not.toBeNull();
  let mark = first;
  for (let i = 0; i < 4; i++) mark = next(mark, 'ArrowDown') ?? mark;
  expect(mark.arm).toBe('wait-at-recycle');
});

test('a mark in words: what, whose, how long, and what it means', () => {
  const layout = layoutOf(drawingAt(499, ['inode']), 34, 13);
  const box = layout.lanes[0]!;
  const hero = box.bands.find((b) => b.name === 'inode')!;
  const mark = under(rowsOf(index, layout), xOf(layout, box, 80 * us), hero.top + 8)!;
  expect(words(index, mark, inodeLesson)).toContain(
    'used again 25 µs after it was released, 20 µs before',
  );
});

test('when the shadow is over, nobody is said to look any more', () => {
  const at = (moment: number) => sentences['life']!(index, inodeFrame(0, 500, moment), inodeLesson);
  expect(at(90)).toContain('before its grace period ends. An old reader may now look');
  expect(at(150)).toContain(
    'before its grace period ended. That grace period ended 50 µs ago, so no reader can still be looking at the old file.',
  );
});

test('sentences follow the moment', () => {
  const say = (name: string, moment: number) =>
    sentences[name]!(index, inodeFrame(0, 500, moment), inodeLesson);
  expect(say('life', 90)).toContain('25 µs after the old file was released and 20 µs before');
  expect(say('life', 62)).toContain('waits for the worker');
  expect(say('reuses', 499)).toContain(
    'On stock, XFS has reused 2 inodes so far, 1 of them inside the shadow',
  );
  expect(say('reuses', 499)).toContain('tasks waited for RCU once, for 30 µs in total');
  expect(say('buys', 499)).toContain('1 of 2 on stock and none of 1 on wait at recycle');
  expect(say('dam', 58)).toContain('1 of at most 256 inodes wait on CPU 0');
});

test('on a kernel that does not report early reuses, sentences count them from the grace periods', () => {
  const today = inodeIndex(`
    today
    10 fresh 7
    55 queued 7 0
    65 inactivated 7
    80 reuse 7 2
    200 queued 7 0
    220 inactivated 7
    400 reuse 7 2
    gp 58 100
    gp 240 300
  `);
  const say = (name: string, moment: number) =>
    sentences[name]!(today, inodeFrame(0, 500, moment), inodeLesson);
  expect(say('reuses', 499)).toBe(
    'On stock 7.3, XFS has reused 2 inodes so far, 1 of them inside the shadow.',
  );
  expect(say('life', 90)).toContain('20 µs before its grace period ends');
  expect(counts(today, inodeFrame(0, 500, 499), inodeLesson).rows.get('today')?.[3]).toBe('1');
});

test('a kernel without the knob for the backlog keeps its limit', () => {
  const lanes = inodeIndex('stock\n 55 queued 7 1\n today\n 55 queued 7 0');
  const drawing = { ...drawingAt(58), index: { ...lanes, params: { backlog: 4 } } };
  expect(layoutOf(drawing, 34, 13).lanes.map(({ limit }) => limit)).toEqual([1024, 256]);
  const said = sentences['dam']!(drawing.index, drawing.frame, inodeLesson);
  expect(said).toContain('On stock, 1 of at most 1,024 inodes');
  expect(said).toContain('On stock 7.3, 1 of at most 256 inodes');
});

test('figures of the queue that stand still are of one moment, what the worker has taken among them', () => {
  const held = new Map<string, string>();
  const said = (moment: number) => {
    const drawing = drawingAt(moment, ['flow']);
    const { pen, log } = recordingPen();
    const artist = view.artist(drawing.lesson, drawing.show);
    const layout = artist.layout(drawing, 34, 13);
    withFrozenFigures(held, () => artist.draw(pen, layout, drawing, null, namedTiles));
    return log.flatMap(({ text: words }) => words ?? []);
  };
  expect(said(58)).toEqual(expect.arrayContaining(['queued and taken', '1 of 256', '0 taken']));
  expect(said(62)).toEqual(expect.arrayContaining(['1 of 256', '0 taken']));
  held.clear();
  expect(said(62)).toEqual(expect.arrayContaining(['0 of 256', '1 taken']));
});

test('summary, table and counts', () => {
  const frame = inodeFrame(0, 500, 250);
  expect(summary(index, frame, inodeLesson)[0]).toContain('2 inodes queued, 2 inactivated');
  expect(table(index, frame, inodeLesson).length).toBeLessThanOrEqual(50);
  const found = counts(index, inodeFrame(0, 500, 499), inodeLesson);
  expect(found.rows.get('stock')).toEqual(['2', '2', '2', '1', '0', '0']);
  expect(found.rows.get('wait-at-recycle')).toEqual(['1', '1', '1', '0', '1', '0']);
});

test('too few inodes answer no prediction', () => {
  const prediction = inodeLesson.predictions['early']!;
  expect(answers['early_share']!(index, prediction, inodeLesson)).toBeNull();
  const turns = Array.from({ length: 60 }, (_, i) => {
    const t = 10 * i;
    return `${t + 1} queued 9 1\n ${t + 2} inactivated 9\n ${t + 3} reuse 9 ${i % 4 === 0 ? 1 : 0}`;
  });
  const many = inodeIndex(`stock\n${turns.join('\n')}`);
  const answer = answers['early_share']!(many, prediction, inodeLesson)!;
  expect(answer.value).toBeCloseTo(75);
  expect(answer.choice).toBe(2);
});

test('the first step looks at a life whose shadow is in view as a whole', () => {
  const place = moments['life']!(index, {
    moment: 'life',
    window_ms: 0.4,
    window_steps: 0,
    operation: 1,
  })!;
  expect(place.start).toBeLessThan(55 * us);
  expect(place.start + place.span).toBeGreaterThan(100 * us);
});

test('the mail in files a second; ours only from untraced tables of this clock', () => {
  expect(publishedLines(inodeLesson).map((line) => line.points)).toEqual([
    [{ batch: 32, perSecond: 10 }],
    [{ batch: 32, perSecond: 2 }],
  ]);
  const of = (clock: 'count' | 'wall', batch: number, median: number) => ({
    ...{ clock, params: { batch }, workload: 'recycle' },
    rows: [{ arm: 'stock', n: 5, ops_per_s_median: median, unit: 'files/s' }],
  });
  const tables = [of('count', 32, 100), of('wall', 8, 7), of('count', 8, 90), of('count', 32, 101)];
  expect(ourLines(inodeLesson, tables, 'count')).toMatchObject([
    {
      arm: 'stock',
      points: [
        { batch: 8, perSecond: 90 },
        { batch: 32, perSecond: 101 },
      ],
    },
  ]);
});

test('cells are as large as fits', () => {
  const place = { x: 0, y: 0, w: 248, h: 86 };
  expect(pitchOf(place, 60, 1)).toBeGreaterThan(pitchOf(place, 200, 1));
  expect(pitchOf(place, 5000, 1)).toBe(9);
});

test('ticks stand where grace periods end; others are short, where the program ran; few ends tell nothing', () => {
  const tick = 4000;
  const ends = Array.from({ length: 14 }, (_, i) => (i === 6 ? 25_500 : 300 + i * tick));
  const run = (n: number) =>
    inodeIndex(
      `stock\n10 fresh 7\nruns 0 22000 27000\n${ends
        .slice(0, n)
        .map((t) => `gp ${t - 200} ${t}`)
        .join('\n')}`,
    );
  const drawn = (n: number) => {
    const drawing = {
      ...drawingAt(0, ['ticks']),
      index: run(n),
      frame: inodeFrame(20_000, 32_000, 32_000),
    };
    const layout = layoutOf(drawing, 34, 13);
    const { pen, log } = recordingPen();
    view.artist(drawing.lesson, drawing.show).draw(pen, layout, drawing, null, namedTiles);
    const band = layout.lanes[0]!.bands.find(({ name }) => name === 'ticks')!;
    const bars = log.filter(
      ({ what, fill, at }) =>
        what === 'fillRect' &&
        fill === lightTheme.mechanism &&
        at[1]! + at[3]! === band.top + band.height,
    );
    const box = layout.lanes[0]!;
    const at = (x: number) => Math.round((box.t0 + (x - layout.left) * layout.nsPerPx) / us);
    return bars.map((one) => [at(one.at[0]! + one.at[2]! / 2), one.at[3] === band.height]);
  };
  expect(drawn(14)).toEqual([
    [20_300, true],
    [24_300, false],
    [28_300, true],
  ]);
  expect(drawn(8)).toEqual([]);
});

test('the row of a program that runs alone is not named like a state of an inode', () => {
  const { pen, log } = recordingPen();
  const drawing = drawingAt(499, ['inode']);
  const artist = view.artist(drawing.lesson, drawing.show);
  artist.draw(pen, artist.layout(drawing, 34, 13), drawing, null, namedTiles);
  const said = log.filter((s) => s.what === 'fillText').map((s) => s.text);
  expect(said).toContain('program');
  expect(said).not.toContain('recycle');
});
