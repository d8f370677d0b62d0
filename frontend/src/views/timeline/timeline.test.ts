// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Tests of the general view by the calls that it makes to the pen. The window is 1000 px wide, and a cell of 100 µs is
 * 100 px wide.
 */

import { expect, test } from 'vitest';
import { frameOver } from '../../../test/fixtures/drawing.ts';
import { recordingPen, type Stroke } from '../../../test/fixtures/pen.ts';
import { anyIndex, anyLesson } from '../../../test/fixtures/timeline.ts';
import { lightTheme } from '../../base/theme.ts';
import type { Mark, RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ArrowKey, Drawing } from '../contract.ts';
import { hit, place, step } from '../items.ts';
import { mix, namedTiles } from '../paints.ts';
import { view } from './index.tsx';

const left = 168;
const size = { width: left + 1000 + 14, height: 700, dpr: 1 };

function drawn(
  index: RunIndex,
  show: string[] = [],
  frame = frameOver(0, 10, 10),
  lesson: Lesson = anyLesson,
) {
  const drawing: Drawing = { index, frame, size, lesson, theme: lightTheme, show };
  const artist = view.artist(lesson, show);
  const layout = artist.layout(drawing, 0, 13);
  const { pen, log } = recordingPen();
  artist.draw(pen, layout, drawing, null, namedTiles);
  const find = (x: number, y: number) => hit(artist, layout, drawing, { x, y });
  const next = (from: Mark | null, key: ArrowKey) => step(artist, layout, drawing, from, key);
  const at = (mark: Mark) => place(artist, layout, drawing, mark);
  const say = (mark: Mark | null) => (mark === null ? null : artist.describe(drawing, mark));
  return { log, hit: find, step: next, place: at, say };
}

const words = (log: readonly Stroke[]) =>
  log.filter((s) => s.what === 'fillText').map((s) => s.text);

/** The y of a label, which is the middle of its line. */
function lineOf(log: readonly Stroke[], label: string): number {
  const stroke = log.find((s) => s.what === 'fillText' && s.text === label);
  if (stroke === undefined) throw new Error(`no label ${label}: ${words(log).join(', ')}`);
  return stroke.at[1]!;
}

const cells = (s: Stroke) => [
  Math.round((s.at[0]! - left) / 100),
  Math.round((s.at[0]! + s.at[2]! - left) / 100),
];

const scene = anyIndex(`
  before
  work-0  RRRWWWRRRR
  f>      FFFFFFFF..
  f>      .GGGGG....
  f>      ..HH......
  work-1  RRRRRRRRRR
  p> hit  1 4.5 8
  disk    ..BBBB....
`);

test('calls are drawn below their thread, each depth in a line of its own, without any focus', () => {
  const { log, hit } = drawn(scene);
  const state = lineOf(log, 'work-0');
  const bands = log.filter(
    (s) => s.what === 'fill' && s.alpha === 1 && s.at.length === 4 && s.at[1]! > state,
  );
  const outer = bands.find((s) => String(cells(s)) === '0,8')!;
  const middle = bands.find((s) => String(cells(s)) === '1,6')!;
  const inner = bands.find((s) => String(cells(s)) === '2,4')!;
  expect(outer.at[1]!).toBeLessThan(middle.at[1]!);
  expect(middle.at[1]!).toBeLessThan(inner.at[1]!);
  expect(words(log)).toEqual(expect.arrayContaining(['inside outer', 'inside middle']));
  const at = (stroke: Stroke) => hit(left + 350, stroke.at[1]! + stroke.at[3]! / 2)!;
  expect(anyLesson.kinds[at(outer).kind]!.name).toBe('outer');
  expect(anyLesson.kinds[at(middle).kind]!.name).toBe('middle');
  expect(anyLesson.kinds[at(inner).kind]!.name).toBe('inner');
});

test('focus emphasises: what is not in focus is muted, nothing vanishes', () => {
  const all = drawn(scene).log.filter((s) => s.what === 'fill' && s.alpha === 1).length;
  const frame = { ...frameOver(0, 10, 10), focus: new Set(['middle']) };
  const { log } = drawn(scene, [], frame);
  const full = log.filter((s) => s.what === 'fill' && s.alpha === 1 && s.at.length === 4);
  const muted = log.filter((s) => s.what === 'fill' && s.alpha === 0.5);
  expect(full.map(cells)).toContainEqual([1, 6]);
  expect(full.map(cells)).not.toContainEqual([0, 8]);
  expect(muted.map(cells)).toContainEqual([0, 8]);
  expect(full.length + muted.length).toBeGreaterThanOrEqual(all - 8);
});

test('points stand on a line of their own at their moment, and say their fields and thread', () => {
  const { log, hit, say } = drawn(scene);
  const y = lineOf(log, 'a hit');
  const heads = log.filter((s) => s.what === 'fill' && s.at.length === 3 && s.alpha === 1);
  expect(heads.map((s) => (s.at[0]! - left) / 100)).toEqual([1, 4.5, 8]);
  expect(say(hit(left + 452, y))).toBe(
    'a hit: block 1, took_ns 1.5 µs. Before, work-0 on CPU 0, at 0.450 ms.',
  );
  expect(hit(left + 600, y)).toBeNull();
});

test('a scene chooses parts by show; naming none draws all', () => {
  expect(words(drawn(scene).log)).toEqual(expect.arrayContaining(['disk queue', 'a hit']));
  const few = words(drawn(scene, ['knobs', 'tracks']).log);
  expect(few).toContain('disk queue');
  expect(few).not.toContain('a hit');
  expect(few).not.toContain('inside outer');
});

test('rows may be CPUs: who runs there, side by side', () => {
  const { log, hit } = drawn(scene, ['cpus']);
  expect(words(log)).toEqual(expect.arrayContaining(['CPU 0', 'CPU 1', 'work-0', 'work-1']));
  const mark = hit(left + 700, lineOf(log, 'CPU 1'))!;
  expect(mark.row).toBe(1);
  expect(hit(left + 450, lineOf(log, 'CPU 0'))).toBeNull();
  // Tracks keep their own colours.
  const disk = lineOf(log, 'disk queue');
  const phase = log.find(
    (s) => s.what === 'fill' && s.at.length === 4 && Math.abs(s.at[1]! - disk) < 12,
  );
  expect(phase!.fill).toBe(mix(lightTheme.mechanism, lightTheme.paper, 0.2));
});

test('more points than pixels become columns that count them', () => {
  const many = Array.from({ length: 900 }, (_, i) => (i < 600 ? i / 200 : 3 + (i - 600) / 43));
  const index = anyIndex(`
    before
    work-0  RRRRRRRRRR
    p> hit  ${many.join(' ')}
  `);
  const { log } = drawn(index);
  const columns = log.filter((s) => s.what === 'fillRect' && s.at[2] === 3 && s.alpha === 1);
  expect(log.some((s) => s.what === 'fill' && s.at.length === 3)).toBe(false);
  const first = columns.filter((s) => s.at[0]! < left + 290);
  const later = columns.filter((s) => s.at[0]! > left + 320);
  expect(Math.max(...first.map((s) => s.at[3]!))).toBe(12);
  expect(Math.max(...later.map((s) => s.at[3]!))).toBeLessThan(8);
});

test('keys walk along a line and from line to line, calls and points included', () => {
  const { step, say, place } = drawn(scene);
  const named = (mark: Mark | null) =>
    mark?.table === 'points' ? 'point' : anyLesson.kinds[mark!.kind]!.name;
  let mark = step(null, 'ArrowRight');
  expect(named(mark)).toBe('running');
  const down: string[] = [];
  for (let next = mark; next !== null; next = step(next, 'ArrowDown')) {
    down.push(named(next));
    mark = next;
  }
  expect(down).toEqual(['running', 'outer', 'middle', 'inner', 'running', 'busy', 'point']);
  expect(say(mark)).toContain('0.800 ms');
  expect(say(step(mark, 'ArrowLeft'))).toContain('0.450 ms');
  expect(say(step(mark, 'Home'))).toContain('0.100 ms');
  expect(step(mark, 'ArrowRight')).toBeNull();
  expect(place(mark!)!.x).toBe(left + 800);
});

test('an open call holds what ended inside it, and is drawn up to what is known', () => {
  const live = anyIndex(
    `
    before
    work-0  RRRRRRRR
    f>      .FFFFF__
    f>      ..GG....
  `,
    true,
  );
  const { log, hit } = drawn(live, [], frameOver(0, 10, 8));
  const state = lineOf(log, 'work-0');
  const bands = log.filter((s) => s.what === 'fill' && s.alpha === 1 && s.at[1]! > state);
  const outer = bands.find((s) => String(cells(s)) === '1,8')!;
  const inner = bands.find((s) => String(cells(s)) === '2,4')!;
  expect(outer.at[1]!).toBeLessThan(inner.at[1]!);
  expect(hit(left + 650, outer.at[1]! + 4)!.open).toBe(true);
});

test('a point takes the colour of the mark kind with its name', () => {
  const { log } = drawn(scene);
  const heads = log.filter((s) => s.what === 'fill' && s.at.length === 3);
  expect(new Set(heads.map((s) => s.fill))).toEqual(new Set([lightTheme.gain]));
});

/** The y of a chart's line at these cells, on the upper lane. */
const heights = (log: readonly Stroke[], at: readonly number[], colour: string) => {
  const middle = lineOf(log, 'reads');
  const tops = log.filter(
    (s) =>
      s.what === 'fillRect' &&
      s.at[3] === 1.5 &&
      s.fill === colour &&
      Math.abs(s.at[1]! - middle) < 40,
  );
  return at.map((c) => {
    const x = left + c * 100;
    const run = tops.find((s) => s.at[0]! <= x && s.at[0]! + s.at[2]! > x && s.alpha === 1);
    return run?.at[1] ?? null;
  });
};

const counted = anyIndex(`
  before
  work-0  RR!RR!RR!.
  p> hit  1 4.5 8
  after
  work-0  R!R!R!R!R!
`);

test('operations rise from the left edge of the window, on one scale for all lanes', () => {
  const { log } = drawn(counted, ['counters']);
  expect(words(log).filter((word) => word === 'reads').length).toBe(2);
  const values = words(log);
  expect(values).toContain('3 in view');
  expect(values).toContain('5 in view');
  const [none, one, two] = heights(log, [2.5, 3.5, 6.5], lightTheme.work);
  expect(none).toBeNull();
  expect(one! - two!).toBeGreaterThan(4);
  // In a window that begins later, the count starts from 0 again.
  const later = drawn(counted, ['counters'], frameOver(4, 10, 7));
  expect(words(later.log)).toContain('1 in view');
});

test('a counter may be the value of a field, which holds, or its sum; its tip is the point', () => {
  const lesson: Lesson = {
    ...anyLesson,
    counters: [
      { name: 'block', title: 'block', point: 'hit', xray: null, field: 'block', sum: false },
      { name: 'took', title: 'time', point: 'hit', xray: null, field: 'took_ns', sum: true },
      { name: 'hits', title: 'hits', point: 'hit', xray: null, field: null, sum: false },
    ],
  };
  const at = (moment: number) =>
    words(drawn(counted, ['counters'], frameOver(0, 10, moment), lesson).log);
  const after = (list: readonly (string | undefined)[], label: string) =>
    list[list.indexOf(label) + 1];
  expect(['block', 'time', 'hits'].map((label) => after(at(0.5), label))).toEqual([
    '–',
    '0 in view',
    '0 in view',
  ]);
  expect(['block', 'time', 'hits'].map((label) => after(at(5), label))).toEqual([
    '1',
    '1,500 in view',
    '2 in view',
  ]);
  expect(['block', 'time', 'hits'].map((label) => after(at(9), label))).toEqual([
    '2',
    '4,500 in view',
    '3 in view',
  ]);
  const { log, hit, say } = drawn(counted, ['counters'], frameOver(0, 10, 9), lesson);
  expect(say(hit(left + 455, lineOf(log, 'block')))).toContain('a hit: block 1');
  expect(say(hit(left + 295, lineOf(log, 'reads')))).toBe(
    'Read: 300 µs. Before, work-0, from 0.000 ms.',
  );
});

test('keys walk over what makes a counter change', () => {
  const { step, say } = drawn(counted, ['counters']);
  const first = step(step(null, 'ArrowRight'), 'ArrowDown');
  expect(say(first)).toContain('Read: 300 µs');
  expect(say(step(first, 'Home'))).toContain('from 0.000 ms');
  expect(say(step(step(first, 'Home'), 'ArrowRight'))).toContain('from 0.300 ms');
});

test('where there is no room, counters give way first, then calls; rows and tracks stay', () => {
  const at = (height: number) => {
    const drawing: Drawing = {
      ...{ index: scene, frame: frameOver(0, 10, 10), size: { ...size, height } },
      ...{ lesson: anyLesson, theme: lightTheme, show: [] },
    };
    const artist = view.artist(anyLesson, []);
    const { pen, log } = recordingPen();
    artist.draw(pen, artist.layout(drawing, 0, 13), drawing, null, namedTiles);
    return words(log);
  };
  expect(at(500)).toEqual(expect.arrayContaining(['reads', 'inside outer', 'disk queue']));
  expect(at(230)).not.toContain('inside outer');
  expect(at(190)).not.toContain('reads');
  expect(at(190)).toContain('disk queue');
});
