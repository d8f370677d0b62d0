// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import { layoutWalls } from './layout.ts';

const size = { width: 1176, height: 500, dpr: 1 };
const walls = (arms: readonly string[], rows: number, cols: number, dpr = 1) =>
  layoutWalls(arms, { rows, cols }, { ...size, dpr }, 26, 13);

describe('walls use their room', () => {
  it('shrinks an image where whole pixels would waste it', () => {
    const [one] = walls(['a', 'b'], 301, 320).lanes;
    expect(one?.high).toBeGreaterThan(330);
  });

  it('keeps cells of whole pixels where that costs little', () => {
    const { scale, grid } = walls(['a'], 7, 26);
    expect([scale, Number.isInteger(grid.pitch)]).toEqual([1, true]);
  });

  it('makes cells higher where the lane is, and no more so than a cell may be', () => {
    const high = { width: 820, height: 700, dpr: 1 };
    const { lanes, grid, words } = layoutWalls(
      ['a', 'b'],
      { rows: 57, cols: 76 },
      high,
      26,
      13,
      true,
    );
    expect(grid.tall).toBeGreaterThan(grid.pitch);
    expect(grid.tall).toBeLessThanOrEqual(grid.pitch * 2);
    expect(lanes[0]!.high / high.height).toBeGreaterThan(0.5);
    expect(words.y).toBeGreaterThan(lanes[0]!.y + lanes[0]!.high);
  });

  it('makes cells wider where the steps of a clearing take the height', () => {
    const { grid } = layoutWalls(['a', 'b'], { rows: 57, cols: 76 }, size, 26, 13, true);
    expect(grid.pitch).toBeGreaterThan(grid.tall);
  });

  it('writes larger where walls leave room below, and no wider than the lane', () => {
    const { words, lanes } = walls(['a', 'b'], 57, 78);
    expect(words.em).toBeGreaterThan(1.2);
    expect(words.em * 34 * 0.5 * 13).toBeLessThanOrEqual(lanes[0]?.width ?? 0);
  });

  it('puts the words of a narrow wall that is alone at its side, larger', () => {
    const { words, lanes } = walls(['a'], 57, 78);
    expect(words.dx).toBeGreaterThan(lanes[0]?.wide ?? 0);
    expect(words.em).toBeGreaterThan(1);
    expect(walls(['a', 'b'], 57, 78).words.dx).toBe(0);
    expect(walls(['a'], 7, 26).words.dx).toBe(0);
  });

  it('puts walls one below the other where that costs no cell, and never where bits are cleared', () => {
    const high = { width: 760, height: 640, dpr: 1 };
    const two = (clears: boolean) =>
      layoutWalls(['a', 'b'], { rows: 57, cols: 76 }, high, 34, 13, clears);
    const [above, below] = two(false).lanes;
    expect(below!.y - above!.y).toBe(below!.top);
    expect(below!.left).toBe(above!.left);
    expect(below!.y).toBeGreaterThan(above!.y + above!.high);
    expect(two(false).words.dx).toBeGreaterThan(above!.wide);
    expect(two(true).lanes.map(({ top }) => top)).toEqual([0, 0]);
    expect(walls(['a', 'b'], 57, 78).lanes.map(({ top }) => top)).toEqual([0, 0]);
  });
});
