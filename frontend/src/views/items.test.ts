// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests pointer, keys, places and outlines with a picture of boxes that were written by hand. */

import { describe, expect, test } from 'vitest';
import { frameOver } from '../../test/fixtures/drawing.ts';
import { recordingPen } from '../../test/fixtures/pen.ts';
import { lightTheme } from '../base/theme.ts';
import type { Mark, Nanos } from '../derive/types.ts';
import type { ArrowKey, Artist, Box, Drawing, Item, Laid, Row } from './contract.ts';
import { cellRow, outline, place, sameMark, step, under } from './items.ts';

const zero = 0 as Nanos;

/** A mark with this id; tests tell marks apart by their ids. */
function markOf(id: number, arm = 'a'): Mark {
  return { arm, table: 'spans', id, row: 0, kind: 0, t0: zero, t1: zero };
}

function box(x: number, y = 0, w = 10, h = 10): Box {
  return { x, y, w, h };
}

/** A row that returns the items in the requested columns, as the row of a view does. */
function rowOf(items: readonly Item[], y = 0, more: Partial<Row> = {}): Row {
  return {
    ...{ arm: 'a', area: box(0, y, 1000) },
    items: (x0, x1) => items.filter((one) => one.box.x <= x1 && one.box.x + one.box.w >= x0),
    ...more,
  };
}

const item = (id: number, at: Box, more: Partial<Item> = {}): Item => {
  return { mark: markOf(id), box: at, ...more };
};

const drawing = { frame: frameOver(0, 10, 5) } as unknown as Drawing;

/** An artist for these rows. The boxes of a mark are the boxes of its items. */
function artistOf(rows: readonly Row[], more: Partial<Artist> = {}): Artist {
  const boxes: Artist['boxes'] = (_layout, _drawing, mark) =>
    rows
      .filter(({ arm }) => arm === mark.arm)
      .flatMap((row) => row.items(-1e6, 1e6))
      .flatMap((one) => (sameMark(one.mark, mark) ? [one.box] : []));
  return { rows: () => rows, boxes, ...more } as unknown as Artist;
}

const layout: Laid = { lanes: [] };

describe('under a pointer', () => {
  const at = (rows: readonly Row[], x: number, y = 5) => under(rows, x, y)?.id ?? null;

  test('what a point is in, its begin included and its end not', () => {
    const rows = [rowOf([item(1, box(0)), item(2, box(10))])];
    expect([0, 9.9, 10, 19.9, 20].map((x) => at(rows, x))).toEqual([1, 1, 2, 2, null]);
    expect(under([], 5, 5)).toBeNull();
  });

  test('what lies on top; the first of equals', () => {
    const rows = [rowOf([item(1, box(0)), item(2, box(2, 0, 4), { rank: 1 }), item(3, box(0))])];
    expect([1, 3].map((x) => at(rows, x))).toEqual([1, 2]);
  });

  test('a near miss counts where nothing is, and for brief marks of a higher rank', () => {
    const low = item(1, box(0, 0, 100));
    const rows = (brief: boolean) => [
      rowOf([low, item(2, box(50, 0, 1), { rank: 1, brief })], 0, { slop: 4 }),
    ];
    expect(at(rows(false), 49)).toBe(1);
    expect(at(rows(true), 49)).toBe(2);
    expect(at(rows(true), 45)).toBe(1);
    expect(at(rows(false), 103)).toBe(1);
    expect(at(rows(false), 105)).toBeNull();
  });

  test('of points in a row the nearest', () => {
    const rows = [rowOf([item(1, box(10, 0, 0)), item(2, box(14, 0, 0))], 0, { slop: 6 })];
    expect([11, 13, 21].map((x) => at(rows, x))).toEqual([1, 2, null]);
  });

  test('the nearest row, some px off; within it, items at the height of the point', () => {
    const rows = [
      rowOf([item(1, box(0))]),
      rowOf([item(2, box(0, 14, 10, 4)), item(3, box(0, 20, 10, 4))], 14),
    ];
    const found = [-3, -4, 11, 12.5, 16, 19, 21, 26.5, 28].map((y) => at(rows, 5, y));
    expect(found).toEqual([1, null, 1, 2, 2, 2, 3, 3, null]);
    expect(at(rows, -1, 5)).toBeNull();
  });

  test('a shape of its own, in a row that lies over others', () => {
    const round = item(9, box(0, 0, 40), { rank: 1, holds: ({ x }) => x % 2 === 0 });
    const rows = [rowOf([item(1, box(0, 0, 40))]), rowOf([round])];
    expect([2, 3].map((x) => at(rows, x))).toEqual([9, 1]);
  });
});

describe('arrow keys', () => {
  function walker(rows: readonly Row[], more: Partial<Artist> = {}) {
    const artist = artistOf(rows, more);
    return (from: number | Mark | null, ...keys: ArrowKey[]) => {
      let mark = typeof from === 'number' ? markOf(from) : from;
      for (const key of keys) mark = step(artist, layout, drawing, mark, key);
      return mark?.id ?? null;
    };
  }

  const upper = [1, 2, 3].map((id) => item(id, box(id * 100)));
  const lower = [4, 5].map((id) => item(id, box((id - 3) * 150, 20)));

  test('along a row and to its ends, null behind the last', () => {
    const walk = walker([rowOf(upper)]);
    expect(walk(1, 'ArrowRight')).toBe(2);
    expect(walk(2, 'ArrowLeft')).toBe(1);
    expect(walk(2, 'End')).toBe(3);
    expect(walk(2, 'Home')).toBe(1);
    expect([walk(3, 'ArrowRight'), walk(1, 'ArrowLeft')]).toEqual([null, null]);
  });

  test('down and up to what stands below, or began last before; empty rows are passed', () => {
    const walk = walker([rowOf(upper), rowOf([], 12), rowOf(lower, 20)]);
    expect([1, 2, 3].map((id) => walk(id, 'ArrowDown'))).toEqual([4, 4, 5]);
    expect([4, 5].map((id) => walk(id, 'ArrowUp'))).toEqual([1, 3]);
    expect([walk(1, 'ArrowUp'), walk(4, 'ArrowDown')]).toEqual([null, null]);
  });

  test('from nowhere to where a view says, else into the first row that has anything', () => {
    const rows = [rowOf([]), rowOf(lower, 20)];
    expect(walker(rows)(null, 'ArrowDown')).toBe(4);
    expect(walker(rows, { first: () => markOf(5) })(null, 'Home')).toBe(5);
    // A mark outside the view has no place, so the keys start anew.
    expect(walker(rows)(77, 'ArrowLeft')).toBe(4);
  });

  test('a row may say where up and down come in', () => {
    const rows = [rowOf(upper), rowOf(lower, 20, { entry: 290 })];
    const walk = walker(rows);
    expect([walk(1, 'ArrowDown'), walk(3, 'ArrowDown')]).toEqual([4, 4]);
    expect(walker(rows.slice(1))(null, 'ArrowRight')).toBe(4);
    expect(walker([rowOf(lower, 20, { entry: 305 })])(null, 'ArrowRight')).toBe(5);
  });

  test('what only a pointer finds is passed by; from there keys go on', () => {
    const [one, two, three] = upper;
    const walk = walker([rowOf([one!, two!, item(8, box(220), { pointerOnly: true }), three!])]);
    expect(walk(2, 'ArrowRight')).toBe(3);
    expect([walk(8, 'ArrowLeft'), walk(8, 'ArrowRight')]).toEqual([2, 3]);
    const alone = [rowOf([item(8, box(0), { pointerOnly: true })]), rowOf(upper, 20)];
    expect(walker(alone)(null, 'Home')).toBe(1);
  });

  test('what has become another mark is what stands there', () => {
    const artist = artistOf([rowOf(upper)]);
    const changed = { ...markOf(2), kind: 5 };
    const boxes = () => [box(200)];
    expect(step({ ...artist, boxes }, layout, drawing, changed, 'ArrowRight')?.id).toBe(3);
    expect(step({ ...artist, boxes }, layout, drawing, changed, 'ArrowLeft')?.id).toBe(1);
  });

  test('a row may go on in the next one, or in the same row of the next lane', () => {
    const lines = [rowOf(upper, 0, { flows: 'row' }), rowOf(lower, 20)];
    expect(walker(lines)(3, 'ArrowRight')).toBe(4);
    expect(walker(lines)(4, 'ArrowLeft')).toBe(3);
    expect(walker(lines)(5, 'ArrowRight')).toBeNull();
    const other = (id: number, y: number): Row => ({
      ...{ arm: 'b', area: box(0, y, 1000), flows: 'lane' },
      items: () => [{ mark: markOf(id, 'b'), box: box(50, y) }],
    });
    const lanes = [upper, lower].map((of, i) => rowOf(of, i * 20, { flows: 'lane' }));
    const walk = walker([...lanes, other(7, 40), other(8, 60)]);
    expect([walk(3, 'ArrowRight'), walk(5, 'ArrowRight')]).toEqual([7, 8]);
    expect(walk(markOf(8, 'b'), 'ArrowLeft')).toBe(5);
    expect(walk(markOf(8, 'b'), 'ArrowRight')).toBeNull();
  });

  test('a row of 100,000 is asked for some items, and none is missed', () => {
    let asked = 0;
    const row = cellRow({ arm: 'a', area: box(0) }, { x: 0, pitch: 0.01, n: 100_000 }, (i, at) => {
      asked += 1;
      return i % 50_000 === 0 ? [item(i + 1, at)] : [];
    });
    const dense = cellRow(
      { arm: 'a', area: box(0, 0, 1000) },
      { x: 0, pitch: 0.1, n: 10_000 },
      (i, at) => {
        asked += 1;
        return [item(i + 1, at)];
      },
    );
    const boxes = (_layout: Laid, _drawing: Drawing, { id }: Mark) => [box((id - 1) * 0.1, 0, 0.1)];
    const walk = walker([dense], { boxes });
    expect(walk(5000, 'ArrowRight', 'ArrowRight', 'ArrowLeft')).toBe(5001);
    expect(asked).toBeLessThan(5000);
    expect(row.items(-5, 2000).map(({ mark }) => mark.id)).toEqual([1, 50_001]);
  });
});

test('a mark stands in the middle of its first box; one that is out of view nowhere', () => {
  const artist = artistOf([rowOf([item(1, box(100, 20, 30, 8))], 20)]);
  expect(place(artist, layout, drawing, markOf(1))).toEqual({ x: 115, y: 24 });
  expect(place(artist, layout, drawing, markOf(2))).toBeNull();
});

test('outlines: what is spoken of dashed, what is pointed at and what is chosen', () => {
  const { pen, log } = recordingPen();
  const dashes: number[] = [];
  pen.setLineDash = (dash) => dashes.push([...dash].length);
  const frame = { ...frameOver(0, 10, 5), spoken: [markOf(1), markOf(2)], selection: markOf(3) };
  const boxes = ({ id }: Mark) => (id === 2 ? [] : [box(id * 100, 20, 1)]);
  outline(pen, { theme: lightTheme, frame }, markOf(4), boxes, { x: 2, y: 3, radius: 4 });
  const strokes = log.filter(({ what }) => what === 'stroke');
  expect(strokes).toHaveLength(3);
  expect(strokes.map(({ at }) => at.slice(0, 4))).toEqual([
    [98, 17, 6, 16],
    [398, 17, 6, 16],
    [298, 17, 6, 16],
  ]);
  expect(dashes).toEqual([2, 0]);
});
