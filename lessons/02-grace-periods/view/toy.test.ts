// SPDX-License-Identifier: GPL-2.0-or-later
/** Every place of a reader and an umount on a grid: nobody frees under a reader, and who waits is as the code says. */

import { begin, changed, nextStop } from '@page/toys/types.ts';
import { expect, test } from 'vitest';
import { counted, expedited, type Race, raceOf, reader, rwsem, srcu, waitOf } from './toy.ts';

const tick = 1000;
const base = { tick, hold: 20, quick: 30, shrinkers: 8 };

/** Readers and umounts at eighths of a tick, and around each border by a little. */
function* races(): Generator<Race> {
  const shifts = [0, 1, 25];
  const places = Array.from({ length: 5 * 8 }, (_, k) => (k * tick) / 8);
  for (const umount of places.slice(2, 30))
    for (const from of places)
      for (const shift of shifts)
        for (const length of [100, 700, 2500, 6100])
          yield { ...base, umount, reader: { from: from + shift, to: from + shift + length } };
}

const all = [...races()];

test('what a reader may have found is not freed while it is inside', () => {
  expect(all.length).toBeGreaterThan(10_000);
  for (const race of all) {
    const inside = race.reader.from < race.umount && race.reader.to > race.umount;
    if (!inside) continue;
    for (const fate of [rwsem, srcu, expedited].map((rule) => rule(race)))
      expect(fate.to).toBeGreaterThanOrEqual(Math.min(fate.left, race.reader.to));
    const count = counted(race);
    if (count.walked === race.shrinkers) expect(count.to).toBeGreaterThanOrEqual(race.reader.to);
    // SRCU knows no shrinkers: the whole walk is waited for.
    expect(srcu(race).to).toBeGreaterThan(race.reader.to);
  }
});

test('on rwsem nobody waits longer than for the shrinker at hand', () => {
  for (const race of all) {
    const one = (race.reader.to - race.reader.from) / race.shrinkers;
    expect(waitOf(rwsem(race))).toBeLessThanOrEqual(one + 1e-6);
  }
});

test('on SRCU an umount sleeps one to two ticks without a reader, and never less', () => {
  for (const race of all) {
    const alone = waitOf(srcu({ ...race, reader: { from: -2, to: -1 } }));
    expect(alone).toBeGreaterThan(tick);
    expect(alone).toBeLessThanOrEqual(2 * tick);
    expect(waitOf(srcu(race))).toBeGreaterThanOrEqual(alone);
  }
});

test('looks come at 1, 2, 4 and 8 ticks, then ten apart', () => {
  const race = { ...base, umount: 2500, reader: { from: 2400, to: 25_000 } };
  expect(srcu(race).looks.map((at) => at / tick - 2)).toEqual([1, 2, 4, 8, 16, 26]);
});

test('urgent looks find the end of a reader at once for two ticks, then rarely', () => {
  const until = (to: number) => expedited({ ...base, umount: 2500, reader: { from: 2400, to } });
  expect(until(3900).to).toBe(3900 + base.quick);
  expect(until(4500).looks.map((at) => at / tick - 2)).toEqual([2, 3]);
  expect(until(6500).looks.map((at) => at / tick - 2)).toEqual([2, 3, 5]);
});

test('a reader that comes after the first check holds nobody up', () => {
  for (const race of all) {
    if (race.reader.from < srcu(race).looks[0]!) continue;
    expect(srcu(race).looks.length).toBe(1);
    expect(waitOf(counted(race)) + waitOf(rwsem(race))).toBe(0);
  }
});

test('with a reference count only a reader in this shrinker is waited for', () => {
  for (const race of all) {
    const { from, to } = race.reader;
    const last = to - (to - from) / race.shrinkers;
    expect(waitOf(counted(race)) > 0).toBe(race.umount >= last && race.umount < to);
  }
});

const times = reader.times(null, { arms: [] } as never);

/** Goals that are reached when keys move the reader from one end to the other. */
function byKeys(handles: readonly string[]): ReadonlySet<string> {
  let state = begin(reader, times);
  for (const handle of handles) {
    state = changed(reader, times, state, { do: 'move', handle, to: 0 });
    for (let at = Number.NEGATIVE_INFINITY; state.setting.at[handle]! > at; ) {
      at = state.setting.at[handle]!;
      const to = nextStop(reader.play(times, state.setting), times, handle, at, 1);
      state = changed(reader, times, state, { do: 'move', handle, to });
    }
  }
  return new Set(state.reached);
}

test('keys reach each goal that can be reached, and not the other', () => {
  expect(byKeys(['reader', 'end', 'reader'])).toEqual(new Set(['quits', 'innocent', 'twice']));
  expect(reader.goals.find(({ name }) => name === 'nobody')?.can(times)).toMatch(/^No: /);
});

test('the wake of whoever is dragged stays on the line', () => {
  for (const umount of [0, 7, 12, 99])
    for (const end of [0, 20, 40, 60]) {
      let state = begin(reader, times);
      state = changed(reader, times, state, { do: 'move', handle: 'end', to: end * 1e6 });
      state = changed(reader, times, state, { do: 'move', handle: 'umount', to: umount * 1e6 });
      const race = raceOf(times, state.setting);
      expect(race.reader.to).toBeGreaterThan(race.reader.from);
      expect(srcu(race).to).toBeLessThanOrEqual(times.span);
    }
});
