// SPDX-License-Identifier: GPL-2.0-or-later
/** From samples and points to fields, streams, states and sums. */

import type { RunIndex } from '@page/derive/types.ts';
import { lineLesson, lineRun, oneStat, stepFrame } from '@test/fixtures/cachelines.ts';
import { describe, expect, test } from 'vitest';
import { isStack, totalsOf } from './counted.ts';
import { byteKind, fieldWords, makeStruct, runsOf, structOf } from './fields.ts';
import { layoutLines, leastHeight } from './layout.ts';
import { countedOf } from './model.ts';
import { laneNow } from './now.ts';

describe('lines', () => {
  const run = lineRun({ letters: 24, stats: 12 });
  const lane = (index: RunIndex, arm: string) => index.lanes.find((one) => one.arm === arm)!;

  test('fields of 6.1: where the name ends and where the count stands', () => {
    const stock = structOf(lane(run, 'stock'))!;
    expect([stock.lines, stock.hot!.at, stock.hot!.line]).toEqual([3, 88, 1]);
    expect(stock.name!.compared).toEqual([56, 80]);
    expect([56, 64, 79, 80, 88, 96].map((at) => byteKind(stock, at))).toEqual([
      'name',
      'name_shared',
      'name_shared',
      'plain',
      'count',
      'plain',
    ]);
    expect(stock.name!.letters.slice(56, 81).join('')).toBe('abcdefghijklmnopqrstuvwx');
    const moved = structOf(lane(run, 'moved'))!;
    expect([moved.hot!.at, moved.hot!.line, byteKind(moved, 72)]).toEqual([136, 2, 'name']);
    expect(fieldWords(stock, 64, 8)).toBe('d_iname[8..15]');
    expect(fieldWords(stock, 88, 8)).toBe('d_lockref');
  });

  test('fields of 7.3: d_shortname is the name, and __d_name has the place of d_name', () => {
    const of: readonly (readonly [string, number, number])[] = [
      ['d_hash', 8, 16],
      ['__d_name', 32, 16],
      ['d_name', 32, 16],
      ['d_inode', 48, 8],
      ['d_shortname', 56, 40],
      ['d_lockref', 128, 8],
    ];
    const bytes = new Uint8Array(192).fill('a'.charCodeAt(0), 56, 80);
    const today = makeStruct({
      n: of.length,
      columns: {
        offset: Int32Array.from(of, ([, at]) => at),
        size: Int32Array.from(of, ([, , size]) => size),
        bytes,
      },
      facts: { size: 192, name_length: 24, inline_name: 1 },
      texts: of.map(([name]) => name),
    });
    expect(today.hot).toEqual({ at: 128, line: 2, words: 'count', lineWords: "count's line" });
    expect(today.name!.compared).toEqual([56, 80]);
    expect(today.name!.letters.join('')).toBe('a'.repeat(24));
    expect([16, 32, 48, 64, 80, 128].map((at) => byteKind(today, at))).toEqual([
      'chain',
      'chain',
      'plain',
      'name',
      'plain',
      'count',
    ]);
    expect(fieldWords(today, 64, 8)).toBe('d_shortname[8..15]');
  });

  test('runs cover every line once', () => {
    for (const { arm } of run.lanes) {
      const struct = structOf(lane(run, arm))!;
      for (const [line, runs] of runsOf(struct).entries()) {
        expect(runs[0]!.at).toBe(line * 64);
        expect(runs.reduce((sum, one) => sum + one.size, 0)).toBe(64);
      }
    }
  });

  test('a name of eight letters lies in line 0 alone, one of 32 outside of the struct', () => {
    const short = structOf(lineRun({ letters: 8, stats: 4 }).lanes[0]!)!;
    expect(short.name!.compared).toEqual([56, 64]);
    expect(byteKind(short, 64)).toBe('plain');
    const long = structOf(lineRun({ letters: 40, stats: 4 }).lanes[0]!)!;
    expect(long.name!.compared[0]).toBe(long.name!.compared[1]);
    expect(long.name!.letters.join('')).toBe('');
  });

  test('counted: the lines of a stat, as the patch has them', () => {
    const figures = (letters: number, arm: string) => {
      const { lines, hot, nameReads } = totalsOf(lane(lineRun({ letters, stats: 6 }), arm))!;
      return [lines.map((line) => line.reads), hot!.reads, hot!.rmws, nameReads];
    };
    expect(figures(24, 'stock')).toEqual([[15, 4], 4, 2, 2]);
    expect(figures(8, 'stock')).toEqual([[15, 2], 2, 2, 0]);
    expect(figures(24, 'moved')).toEqual([[15, 2, 2], 2, 2, 0]);
  });

  test('the line of the count is the busiest; a stack is nobody else’s, however often it is written', () => {
    for (const [arm, line] of [
      ['stock', 1],
      ['moved', 2],
    ] as const) {
      const { busiest } = totalsOf(lane(lineRun({ letters: 24, stats: 6 }), arm))!;
      expect(busiest[0]).toMatchObject({ line, field: 'd_lockref', vcpus: 2, rmws: 2 });
      expect(busiest.slice(1, -1).every(({ writes, rmws }) => writes + rmws === 0)).toBe(true);
      expect(isStack(busiest.at(-1)!)).toBe(true);
    }
  });

  test('streams hold whole stats alone, of each CPU as many', () => {
    const { streams, cpus, ops, perOp, shown } = countedOf(lane(run, 'stock'));
    expect([cpus, streams.length, ops]).toEqual([[0, 1], 2, 10]);
    expect(perOp).toBe(oneStat('stock', 24).length);
    expect(shown).toBe(2 * 12 * perOp);
  });

  test('the model: one CPU fetches each line once and then has it', () => {
    const alone = lineRun({ letters: 24, stats: 12 }, ['stock'], { model_cpus: 1 });
    const shown = laneNow(
      { index: alone, frame: stepFrame(200), lesson: lineLesson },
      alone.lanes[0]!,
    );
    const { trace } = shown.model!;
    expect(trace.totals.fetches).toBe(2);
    expect(trace.totals.transfers).toBe(0);
  });

  test('the model: two CPUs pass the line to and fro, eight letters spare the name', () => {
    const forName = (letters: number, arm: string) => {
      const index = lineRun({ letters, stats: 40 });
      const { model } = laneNow(
        { index, frame: stepFrame(0), lesson: lineLesson },
        lane(index, arm),
      );
      const { sums, trace } = model!;
      const end = trace.log.length;
      expect(sums.transfers[end]).toBe(trace.totals.transfers);
      expect(sums.ops[end]).toBe(trace.totals.ops);
      return [sums.forName[end]!, sums.transfers[end]!];
    };
    expect(forName(24, 'stock')[0]).toBeGreaterThan(5);
    expect(forName(8, 'stock')[0]).toBe(0);
    // Each CPU has to get the moved name once.
    expect(forName(24, 'moved')[0]).toBeLessThan(4);
    expect(forName(24, 'stock')[1]).toBeGreaterThan(forName(24, 'moved')[1]!);
  });

  test('every access of the model is one that was counted', () => {
    const index = lineRun({ letters: 24, stats: 12 }, ['stock'], { model_cpus: 5 });
    const stock = index.lanes[0]!;
    const { model } = laneNow({ index, frame: stepFrame(0), lesson: lineLesson }, stock);
    const { log } = model!.trace;
    expect(log.cpus).toBe(5);
    for (let k = 0; k < log.length; k++) {
      const p = model!.point[k]!;
      expect(Math.floor(stock.points.a[p]! / 64)).toBe(log.line[k]);
      // A load before a compare-and-swap was counted as a read, and asks to own its line.
      const owns = stock.points.c[p] === 0 && log.kind[k] === 2;
      expect(owns || stock.points.c[p] === log.kind[k]).toBe(true);
      if (owns) expect(log.line[k]).toBe(1);
    }
  });
});

describe('least', () => {
  const foot = (input: Parameters<typeof layoutLines>[0]) =>
    Math.max(...layoutLines(input).lanes.map(({ order }) => order.y + order.h));

  test('at its least height a picture ends before its foot, at any width', () => {
    for (const width of [340, 560, 900, 1400])
      for (const arms of [['a'], ['a', 'b']]) {
        const size = { width, height: 200, dpr: 1 };
        const input = { arms, lines: 3, cpus: 2, size, headerHeight: 34, fontSize: 13 };
        const height = leastHeight(input);
        expect(foot({ ...input, size: { ...size, height } })).toBeLessThanOrEqual(height);
        expect(foot(input)).toBeGreaterThan(200);
      }
  });
});
