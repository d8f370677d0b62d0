// SPDX-License-Identifier: GPL-2.0-or-later
/** Orders and sizes of fields: they are laid as a compiler does, and no layout sends fewer lines about than the merged one. */

import { beginTiles, tilesAfter } from '@page/toys/tiles/types.ts';
import { lineLesson, lineRun } from '@test/fixtures/cachelines.ts';
import { expect, test } from 'vitest';
import { modelOf, settingsOf, transfersPerStat } from './model.ts';
import { added, benchOf, fields, lay, layoutOf, scored, statsOf, transfersOf } from './toy.ts';

const run = lineRun({ letters: 24, stats: 40 });
const stats = statsOf(run, lineLesson);
const bench = benchOf(stats, 'd_lockref moved');
const stock = stats.fields.map(({ name }) => name);
const game = fields.open(run, lineLesson);

test('fields are laid at multiples of their alignment, with holes, and the whole ends at one', () => {
  const { at, bytes, runs } = lay([
    { name: 'flags', size: 4, role: 'plain' },
    { name: 'pointer', size: 8, role: 'plain' },
    { name: 'seq', size: 4, role: 'plain' },
    { name: 'letters', size: 3, role: 'name' },
  ]);
  expect([...at.values()]).toEqual([0, 8, 16, 20]);
  expect([bytes, runs.filter(({ field }) => field === null).map(({ size }) => size)]).toEqual([
    24,
    [4, 1],
  ]);
});

test('both kernels of the run come out as pahole has them', () => {
  const places = (order: readonly string[]) => layoutOf(stats, order, 32).laid;
  expect(places(stock).at.get('d_lockref')).toBe(88);
  expect(places(stats.other).at.get('d_lockref')).toBe(136);
  expect([places(stock).bytes, places(stats.other).bytes]).toEqual([192, 192]);
});

test('what the toy says of both kernels is what the picture says of them', () => {
  const settings = settingsOf(run.params, lineLesson);
  for (const [i, order] of [stock, stats.other].entries()) {
    const picture = transfersPerStat(modelOf(run.lanes[i]!, settings)!);
    expect(scored(bench, order, 32, settings.cpus)).toBeCloseTo(picture, 10);
  }
});

test('of all ways to put what a stat reads beside the count, none sends fewer lines about', () => {
  const words = new Set(
    stats.streams[0]!.field.map((f, i) => f * 64 + stats.streams[0]!.offset[i]!),
  );
  const count = stats.fields.findIndex(({ role }) => role === 'count');
  const read = [...words].filter((word) => Math.floor(word / 64) !== count);
  expect(read.length).toBe(10);
  for (const cpus of [2, 5]) {
    const least = scored(bench, stats.other, 32, cpus);
    for (let mask = 1; mask < 2 ** read.length; mask += cpus === 2 ? 1 : 13) {
      // Two lines: one of the count and some words, one of the others.
      const streams = stats.streams.map((one) => ({
        ...one,
        field: one.field.map((f, i) => {
          const word = read.indexOf(f * 64 + one.offset[i]!);
          return word < 0 || (mask >> word) & 1 ? 0 : 1;
        }),
        offset: one.offset.map(() => 0),
      }));
      const halves = ['hot', 'rest'].map((name) => ({ name, size: 64, role: 'plain' as const }));
      const split = { ...stats, fields: halves, streams };
      const layout = { fields: halves, laid: lay(halves.map((h) => ({ ...h }))), outside: false };
      expect(transfersOf(split, layout, cpus)).toBeGreaterThan(least);
    }
  }
});

test('each field that a stat reads costs, put beside the count', () => {
  for (const cpus of [2, 8, 20]) {
    const all = added(bench, cpus);
    expect(all.map(([name]) => name).sort()).toEqual(
      ['d_flags', 'd_hash', 'd_inode', 'd_name', 'd_parent', 'd_seq'].sort(),
    );
    expect(Math.min(...all.map(([, more]) => more))).toBeGreaterThan(0.1);
  }
});

test('each goal that can be reached is, by moves of the hand; the layout that was merged is not beaten', () => {
  let state = beginTiles(game);
  expect(state.reached).toEqual([]);
  state = tilesAfter(game, state, { do: 'move', tile: 'd_lockref', to: 12 });
  expect(state.setting.order).toEqual(stats.other);
  expect(state.play.reached).toEqual(['stock']);
  expect(state.play.outcome.words).toMatch(
    /^As few transfers as upstream's layout\. No field that a stat reads/,
  );
  state = tilesAfter(game, state, { do: 'preset', setting: game.start });
  state = tilesAfter(game, state, { do: 'amount', name: 'name', to: 72 });
  expect(state.play.reached).toEqual(['stock', 'sizes']);
  expect(state.play.shelf.verdict).toContain('232 bytes, 4 lines');
  state = tilesAfter(game, state, { do: 'amount', name: 'name', to: 24 });
  expect(state.play.reached).toContain('sizes');
  expect(state.play.outcome.words).toContain('does not fit');
  // The name goes to the end; the count comes to line 1 by what is moved before it.
  state = tilesAfter(game, state, { do: 'preset', setting: game.start });
  state = tilesAfter(game, state, { do: 'move', tile: 'd_iname', to: 15 });
  for (const tile of ['d_op', 'd_sb']) state = tilesAfter(game, state, { do: 'move', tile, to: 6 });
  expect(state.play.reached).toContain('line');
  expect(state.reached).not.toContain('beat');
  expect(game.goals.find(({ name }) => name === 'beat')!.can()).toMatch(/^No\. /);
});

test('without a run the data are chosen, and say so', () => {
  const alone = fields.open(null, lineLesson);
  expect(alone.from).toBeNull();
  const { play } = beginTiles(alone);
  const value = (name: string) => play.bars.find((one) => one.name === name)!.value;
  expect(value('other')).toBeLessThan(value('stock'));
  expect(value('mine')).toBe(value('stock'));
});
