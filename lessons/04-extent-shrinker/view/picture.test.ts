// SPDX-License-Identifier: GPL-2.0-or-later
/** Where things stand, what is painted, and what is pointed at. */

import { darkTheme, lightTheme } from '@page/base/theme.ts';
import type { Frame, Mark } from '@page/derive/types.ts';
import type { Scene } from '@page/protocol/lesson.ts';
import type { ArrowKey, Drawing } from '@page/views/contract.ts';
import { place, step, under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { extentLesson, fileRun, frameAfter } from '@test/fixtures/extents.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { brushesFor, drawStrip } from './draw.ts';
import { view } from './index.tsx';
import { boxAt, cellAt, gridFor, layoutStrip, type StripLayout } from './layout.ts';
import { behindBox, describe, looks, rowsOf } from './marks.ts';
import { drawChart } from './panels.tsx';

const run = fileRun({ delayed: 256, written: 256, nr: 32, scans: 9 });
const arms = run.lanes.map((lane) => lane.arm);

function drawing(frame: Frame, width = 1200, height = 760): Drawing {
  const size = { width, height, dpr: 1 };
  return { index: run, frame, size, lesson: extentLesson, theme: lightTheme };
}

function laid(width = 1200, height = 760): StripLayout {
  const size = { width, height, dpr: 1 };
  return layoutStrip({ arms, boxes: 512, budget: 32, size, headerHeight: 34, fontSize: 13 });
}

test('512 boxes are lettered on a wide page and on one of 960 px', () => {
  for (const width of [1200, 960]) {
    const layout = laid(width);
    expect(layout.lanes.every(({ grid }) => grid.lettered)).toBe(true);
    expect(layout.lanes.every(({ grid }) => grid.x + grid.columns * grid.cell <= width)).toBe(true);
    expect(layout.lanes.at(-1)!.wordsY).toBeLessThan(760 - 13);
  }
});

test('lanes have equal cells at equal places, and do not touch', () => {
  const [one, two] = laid().lanes;
  expect({ ...two!.grid, y: 0 }).toEqual({ ...one!.grid, y: 0 });
  expect(two!.top).toBeGreaterThan(one!.wordsY + 13);
});

test('low lanes are as wide as their stage, and a letter has room between the borders of its box', () => {
  const grid = gridFor(512, 1169, 106, 13);
  expect(grid.lettered).toBe(true);
  expect(grid.columns * grid.cell).toBeGreaterThan(0.9 * 1169);
  expect(grid.rows * grid.pitch).toBeLessThanOrEqual(106);
  const { lanes } = laid(1240, 560);
  // Letters are some 0.75 of their size high; a border takes a pixel above and below.
  for (const lane of lanes) expect(lane.grid.high).toBeGreaterThanOrEqual(13 * 0.75 + 2);
  expect(lanes[0]!.grid.lettered).toBe(true);
});

test('the words of a scan end before the edge: what does not fit in a line goes into the next', () => {
  const late = drawing(frameAfter(2000, { hold: true }));
  for (const width of [1200, 700, 600, 520, 390]) {
    const { pen, log } = recordingPen();
    const layout = laid(width, 640);
    drawStrip(pen, layout, { ...late, size: { width, height: 640, dpr: 1 } }, null, namedTiles);
    const words = log.filter(({ what, at }) => what === 'fillText' && at[0]! >= layout.gutter);
    const ends = words.map(({ at, text = '' }) => at[0]! + pen.measureText(text).width);
    expect(
      words.some(({ text }) => text?.includes('freed entries')),
      `${width}`,
    ).toBe(true);
    expect(Math.max(...ends), `${width}`).toBeLessThan(width);
  }
});

test('thousands of boxes still fit, without letters', () => {
  const { columns, rows, cell, lettered } = gridFor(3464, 860, 240, 13);
  expect(lettered).toBe(false);
  expect(columns * cell).toBeLessThanOrEqual(860);
  expect(rows * cell).toBeLessThanOrEqual(240);
  expect(cell).toBeGreaterThanOrEqual(6);
});

test('a box is found where it is drawn', () => {
  const { grid } = laid().lanes[1]!;
  for (const box of [0, 63, 64, 511]) {
    const { x, y } = cellAt(grid, box);
    expect(boxAt(grid, x + 2, y + 2)).toBe(box);
  }
  expect(boxAt(grid, grid.x - 1, grid.y)).toBe(-1);
  expect(boxAt(grid, grid.x + 2, grid.y + grid.rows * grid.pitch + 1)).toBe(-1);
});

const name = (mark: Mark | null) => mark && extentLesson.kinds[mark.kind]!.name;

test('pointing: an entry in vain, one that is freed, one never met, and spent budget', () => {
  const frame = frameAfter(288, { hold: true });
  const at = drawing(frame);
  const layout = laid();
  const on = (lane: number, box: number) => {
    const { x, y } = cellAt(layout.lanes[lane]!.grid, box);
    return under(rowsOf(layout, at), x + 3, y + 3);
  };
  expect(name(on(0, 0))).toBe('vain');
  expect(name(on(0, 287))).toBe('freed');
  expect(name(on(1, 31))).toBe('vain');
  expect(name(on(1, 32))).toBe('delayed');
  expect(name(on(2, 0))).toBe('delayed');
  expect(name(on(2, 511))).toBe('freed');
  const unit = (lane: number) =>
    under(rowsOf(layout, at), layout.lanes[lane]!.grid.x + 3, layout.lanes[lane]!.meterY + 3);
  expect([0, 1, 2].map((lane) => name(unit(lane)))).toEqual([
    'spent_gain',
    'spent_vain',
    'spent_gain',
  ]);
  expect(describe(run, on(1, 31)!, extentLesson)).toBe(
    'stock, block 31. looked at in vain by this scan. Visited 1 time so far.',
  );
});

test('a unit of the budget that is not spent says so, in its tip and in its drawer, and answers nothing', () => {
  const frame = frameAfter(1);
  const at = drawing(frame);
  const layout = laid();
  const { grid, meterY, unit } = layout.lanes[1]!;
  const on = (nth: number) => under(rowsOf(layout, at), grid.x + nth * unit + 3, meterY + 3);
  expect(name(on(0))).toBe('spent_vain');
  const left = on(2)!;
  expect(extentLesson.kinds[left.kind]).toBeUndefined();
  expect(describe(run, left, extentLesson)).toBe('stock, unit 3 of the budget: not spent so far.');
  expect(behindBox(run, frame, extentLesson, left)).toMatchObject({
    ...{ title: 'part of the budget that is not spent', who: 'unit 3', rows: [{ what: 'visit' }] },
    how: "Up to this moment, no event has spent this unit of the budget. The lane's last event is below.",
  });
  const tip = place(view.artist(extentLesson), layout, at, left)!;
  expect(tip.x).toBeCloseTo(grid.x + 2.5 * unit);
});

test('keys walk from the hand to every box, to the list, to the budget and on to the next lane', () => {
  const at = drawing(frameAfter(4, { hold: true }));
  const layout = laid();
  const next = (from: Mark | null, key: ArrowKey) =>
    step(view.artist(extentLesson), layout, at, from, key) ?? from;
  let mark = next(null, 'ArrowRight');
  expect([mark?.arm, mark?.row, name(mark)]).toEqual(['scan-2013', 3, 'vain']);
  mark = next(mark, 'ArrowRight');
  expect([mark?.row, name(mark)]).toEqual([4, 'delayed']);
  const way: (string | null)[] = [];
  for (let i = 0; i < 60 && mark !== null; i++) {
    const below: Mark | null = next(mark, 'ArrowDown');
    if (name(below) !== name(mark) || below?.arm !== mark.arm)
      way.push(`${below?.arm} ${name(below)}`);
    mark = below;
  }
  expect(way).toContain('stock spent_vain');
  expect(way).toContain('evictable-list thread');
  expect(way.at(-1)).toBe('evictable-list spent_gain');
  expect(name(next(mark, 'ArrowUp'))).toBe('thread');
});

test('each look is painted in its own way, in both themes: not by colour alone', () => {
  for (const theme of [lightTheme, darkTheme]) {
    const brushes = brushesFor(theme, namedTiles);
    const ways = looks.map((look) => {
      const { fill, border, dashed, dot } = brushes[look];
      const texture =
        typeof fill === 'string' && fill.includes(' on ') ? fill.split(' ')[0] : 'flat';
      return `${fill === null ? 'hollow' : texture} ${border !== null} ${dashed === true} ${dot !== undefined} ${fill}`;
    });
    expect(new Set(ways).size).toBe(looks.length - 0);
  }
});

test('the draw log: letters of all entries, hollow ones too, none in a box that is empty', () => {
  const { pen, log } = recordingPen();
  drawStrip(pen, laid(), drawing(frameAfter(288)), null, namedTiles);
  const letters = log.filter(
    (stroke) => stroke.what === 'fillText' && /^[DWHU]$/.test(stroke.text!),
  );
  // 3 x 512, and a letter before each of the six counts; all that the list freed before its last scan is empty.
  expect(letters).toHaveLength(3 * 512 + 6 - (256 - 32));
});

test('the legend has the list where its kernel stands beside another, also before an optional arm', () => {
  const spare = { ...extentLesson.arms[0]!, name: 'spare', role: 'alternative' as const };
  const lesson = { ...extentLesson, arms: [...extentLesson.arms, spare] };
  const names = (shown: readonly string[]) =>
    view
      .legend?.(lesson, { arms: [...shown], params: {}, show: [] } as unknown as Scene, null)
      .map(({ name }) => name);
  expect(names(['stock', 'evictable-list'])).toContain('thread');
  expect(names(['scan-2013', 'stock'])).not.toContain('thread');
});

test('the legend has the outline of a sentence where the sentence has one', () => {
  const spoken = { ...extentLesson.kinds[0]!, name: 'spoken_of', layer: 'mark' as const };
  const lesson = { ...extentLesson, kinds: [...extentLesson.kinds, spoken] };
  const names = (sentence: string) =>
    view
      .legend?.(lesson, { arms, params: {}, show: [], sentence } as unknown as Scene, null)
      .map(({ name }) => name);
  expect(names('charged')).toContain('spoken_of');
  expect(names('totals')).not.toContain('spoken_of');
});

test('a count stands beside the row that begins with its letter; where none does, an arrow says further on', () => {
  const counts = (written: number) => {
    const index = fileRun({ delayed: 250, written, nr: 32, scans: 1 });
    const { pen, log } = recordingPen();
    const size = { width: 1200, height: 760, dpr: 1 };
    const input = { arms, boxes: 250 + written, budget: 32, size, headerHeight: 34, fontSize: 13 };
    const layout = layoutStrip(input);
    drawStrip(pen, layout, { ...drawing(frameAfter(0)), index }, null, namedTiles);
    const { grid } = layout.lanes[0]!;
    const words = log.filter(({ what, at }) => what === 'fillText' && at[0]! < layout.gutter);
    const of = words.find(({ text }) => /^\d/.test(text ?? '') && text !== '250')!;
    const row = Math.floor((of.at[1]! - grid.y) / grid.pitch);
    return { text: of.text, box: row * grid.columns, columns: grid.columns };
  };
  const many = counts(256);
  expect(many.text).toBe('256');
  expect(250 % many.columns).not.toBe(0);
  expect(many.box).toBe(Math.ceil(250 / many.columns) * many.columns);
  const few = counts(2);
  expect(few.text).toBe('2 →');
  expect(few.box).toBe(Math.floor(250 / few.columns) * few.columns);
});

test('lines of the chart have each a dash of its own, and their names stand above all of them', () => {
  const { pen, log } = recordingPen();
  const dashes: string[] = [];
  pen.setLineDash = (dash) => dashes.push([...dash].join(' '));
  const size = { width: 245, height: 210, dpr: 1 };
  drawChart(pen, { ...drawing(frameAfter(288)), size });
  expect(new Set(dashes).size).toBe(3);
  const titles = extentLesson.arms.map(({ title }) => title);
  const names = log.filter(({ text }) => titles.includes(text ?? ''));
  expect(names).toHaveLength(3);
  const lowest = Math.max(...names.map(({ at }) => at[1]!));
  const dots = log.filter(({ what, at }) => what === 'fill' && at.length === 3);
  const marks = log.filter(
    ({ what, ink, at }) => what === 'stroke' && ink === lightTheme.gain && at[0]! > 40,
  );
  expect(dots).toHaveLength(3);
  const below = marks.filter(({ at }) => at[1]! > lowest + 8);
  expect(below.length).toBeGreaterThan(800);
  expect(marks.length - below.length).toBeLessThanOrEqual(6);
});
