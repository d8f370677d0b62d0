// SPDX-License-Identifier: GPL-2.0-or-later
/** Every arrangement of a small file: what each kernel's scan looks at, frees and leaves, and that the goals are as said. */

import { beginTiles, tilesAfter } from '@page/toys/tiles/types.ts';
import { extentLesson, fileRun } from '@test/fixtures/extents.ts';
import { expect, test } from 'vitest';
import { factsOf, sumsOf } from './replay.ts';
import {
  budget,
  type Entry,
  type File,
  firstGain,
  freedBy,
  kernels,
  mixed,
  nth,
  reclaimable,
  scan,
  settingOf,
  thinned,
} from './toy.ts';

const most = 6;

/** All files of up to so many entries. */
function* files(): Generator<Entry[]> {
  for (let n = 1; n <= most; n++)
    for (let code = 0; code < 3 ** n; code++)
      yield Array.from({ length: n }, (_, i) => 'DWR'[Math.floor(code / 3 ** i) % 3] as Entry);
}

const all = [...files()];
const budgets = [1, 2, 3, most];

test('stock never looks at more than its budget, and at no entry twice in a scan', () => {
  expect(all.length).toBe(1092);
  for (const entries of all)
    for (const nr of budgets)
      for (let from = 0; from <= entries.length; from++) {
        const { looks } = scan('stock', { entries, from }, nr);
        const there = reclaimable(entries) === 0 ? 0 : Math.min(nr, entries.length);
        expect(looks.length).toBe(there);
        expect(new Set(looks.map(([block]) => block)).size).toBe(looks.length);
        const way = [...entries.keys()];
        expect(looks.map(([block]) => block)).toEqual(
          [...way.filter((b) => b >= from), ...way.filter((b) => b < from)].slice(0, there),
        );
      }
});

test('the scan of 2013 always frees its budget, as long as that is there, and steps over the rest', () => {
  for (const entries of all)
    for (const nr of budgets) {
      const turn = scan('scan-2013', { entries, from: 0 }, nr);
      expect(freedBy(turn)).toBe(Math.min(nr, reclaimable(entries)));
      const last = turn.looks.at(-1)?.[0] ?? -1;
      expect(turn.looks.length).toBe(last + 1);
    }
});

test('the list never meets a delayed entry', () => {
  for (const entries of all)
    for (const nr of budgets) {
      const { looks } = scan('evictable-list', { entries, from: 0 }, nr);
      expect(looks.every(([block]) => entries[block] !== 'D')).toBe(true);
      expect(looks.length).toBe(Math.min(nr, reclaimable(entries)));
    }
});

test('no kernel frees a delayed entry; each frees the others in the end, also stock', () => {
  for (const entries of all)
    for (const nr of budgets)
      for (const kernel of kernels) {
        let file: File = { entries, from: 0 };
        for (let n = 0; n < 4 * entries.length + 4; n++) file = scan(kernel, file, nr).after;
        expect(file.entries).toEqual(entries.map((entry) => (entry === 'D' ? 'D' : null)));
      }
});

test('stock has freed something after it was everywhere twice: no file starves it', () => {
  for (const entries of all)
    for (const nr of budgets) {
      const first = firstGain(entries, nr);
      if (reclaimable(entries) === 0) expect(first).toBe(0);
      else {
        expect(first).toBeGreaterThan(0);
        expect(first).toBeLessThanOrEqual(2 * Math.ceil(entries.length / nr));
      }
    }
});

test('an entry that was used since is spared once by stock and by the list, not in 2013', () => {
  const entries: Entry[] = ['R', 'D', 'R'];
  const fates = kernels.map((kernel) => nth(kernel, entries, 3, 1).looks.map(([, fate]) => fate));
  expect(fates).toEqual([
    ['freed', 'kept', 'freed'],
    ['spared', 'kept', 'spared'],
    ['spared', 'spared'],
  ]);
  expect(freedBy(nth('stock', entries, 3, 2))).toBe(2);
});

test('scans of the fixture, which follow the patches, look and free as the rule says', () => {
  const run = fileRun({ delayed: 40, written: 24, nr: 8, scans: 12 });
  const entries = Array.from({ length: 64 }, (_, b): Entry => (b < 40 ? 'D' : 'W'));
  for (const lane of run.lanes) {
    const facts = factsOf(lane);
    const kernel = kernels.find((one) => one === lane.arm)!;
    for (const { number, from, to } of facts.scans.slice(0, 3)) {
      const turn = nth(kernel, entries, 8, number);
      const { visited, freed } = sumsOf(facts, from, to);
      expect([turn.looks.length, freedBy(turn)]).toEqual([visited, freed]);
    }
  }
});

test('a run is thinned with its budget, so that stock frees in the same scan', () => {
  const run = fileRun({ delayed: 256, written: 256, nr: 32, scans: 2 });
  const { entries, budget: nr, each } = thinned(run);
  expect([entries.join(''), nr, each]).toEqual(['D'.repeat(16) + 'W'.repeat(16), 2, 16]);
  expect(firstGain(entries, nr)).toBe(9);
  expect(thinned(null)).toMatchObject({ entries, budget: nr, each: 0 });
});

test('each goal that can be reached is, and the one that cannot is refused', () => {
  const game = budget.open(null, extentLesson);
  let state = beginTiles(game);
  expect(state.reached).toEqual([]);
  state = tilesAfter(game, state, { do: 'preset', setting: game.presets[0]!.setting });
  expect(state.reached).toEqual(['empty', 'long']);
  const set = (entries: string, asked = 1) => {
    const setting = settingOf([...entries.padEnd(32, 'D')] as Entry[], 2, asked);
    state = tilesAfter(game, state, { do: 'preset', setting });
    return state.play;
  };
  expect(set('WW').reached).toEqual(['nobody']);
  expect(state.play.outcome.words).toBe('Every look frees an entry, so no task waits in vain.');
  expect(set(`WW${'D'.repeat(28)}RR`).reached).toContain('second');
  expect(set('').outcome.words).toMatch(/^No entry may be freed/);
  expect(game.goals.find(({ name }) => name === 'never')!.can()).toMatch(
    /^No: .* scan 9 frees an entry\.$/,
  );
  // By hand: a letter, and to be asked again with less.
  state = beginTiles(game);
  state = tilesAfter(game, state, { do: 'make', tile: '1', mark: 'D' });
  expect(state.reached).toEqual(['empty']);
  state = tilesAfter(game, beginTiles(game), { do: 'amount', name: 'budget', to: 1 });
  expect(state.reached).toEqual(['empty']);
  state = tilesAfter(game, state, { do: 'amount', name: 'asked', to: 2 });
  expect(state.play.reached).toEqual([]);
});

test('at first as many are delayed and written as in the run, in turns', () => {
  expect(mixed([...'DDDDWWWW'] as Entry[]).join('')).toBe('DWDWDWDW');
  expect(mixed([...'DDDDDDWW'] as Entry[]).filter((entry) => entry === 'D').length).toBe(6);
});
