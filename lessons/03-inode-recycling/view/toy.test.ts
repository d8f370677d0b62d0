// SPDX-License-Identifier: GPL-2.0-or-later
/** Every place of a reader and of the next file: only stock shows a reader the wrong file, and who waits is as the patches say. */

import { begin, changed, nextStop } from '@page/toys/types.ts';
import { expect, test } from 'vitest';
import {
  callRcu,
  type Fate,
  graceEnd,
  isOld,
  type Race,
  raceOf,
  stock,
  waitAtRecycle,
  waitInWorker,
  walker,
} from './toy.ts';

const base = { unlink: 600, work: 100, asked: 700, whole: 900, shadow: 1400 };

function* races(): Generator<Race> {
  for (let create = 700; create <= 3400; create += 90)
    for (let from = 0; from < 3200; from += 70)
      for (const length of [40, 300, 800, 1500, 3000])
        yield { ...base, create, reader: { from, to: from + length } };
}

const all = [...races()];
const waitOf = ({ wait }: Fate) => (wait === null ? 0 : wait.to - wait.from);

test('on stock a reader sees the wrong file if it came before the unlink and stays past the next', () => {
  expect(all.length).toBeGreaterThan(5000);
  let wrong = 0;
  for (const race of all) {
    const bad = race.reader.from < race.unlink && race.reader.to > race.create;
    expect(stock(race).wrong).toBe(bad);
    if (bad) wrong += 1;
  }
  expect(wrong).toBeGreaterThan(100);
});

test('nowhere else does any reader see a wrong file', () => {
  const rules = [waitAtRecycle, waitInWorker, callRcu];
  expect(all.filter((race) => rules.some((rule) => rule(race).wrong))).toEqual([]);
});

test('no grace period ends while a reader is inside who was there when it began', () => {
  for (const race of all) {
    const { reader, unlink, asked } = race;
    const end = graceEnd(race, unlink, unlink + asked);
    expect(end).toBe(isOld(race) ? Math.max(reader.to, unlink + asked) : unlink + asked);
  }
});

test('at recycle a create waits for a grace period of its own, or not at all', () => {
  for (const race of all) {
    const fate = waitAtRecycle(race);
    if (race.create >= fate.over) expect(fate.wait).toBeNull();
    else expect(waitOf(fate)).toBeGreaterThanOrEqual(race.whole);
    expect(fate.reused).toBe(fate.wait?.to ?? race.create);
    if (isOld(race)) expect(fate.reused).toBeGreaterThanOrEqual(race.reader.to);
  }
});

test('in the worker the worker waits, and a create that comes meanwhile takes another inode', () => {
  for (const race of all) {
    const fate = waitInWorker(race);
    expect(fate.wait?.who).toBe('worker');
    expect(waitOf(fate)).toBeGreaterThanOrEqual(race.whole);
    expect(fate.reused === null).toBe(race.create < fate.free);
  }
});

test('with call_rcu nobody waits, and the inode is out of use for longest', () => {
  for (const race of all) {
    expect(callRcu(race).wait).toBeNull();
    expect(callRcu(race).free).toBeGreaterThan(stock(race).free);
    if (isOld(race)) expect(callRcu(race).free).toBeGreaterThan(race.reader.to);
  }
});

const times = walker.times(null, { points: [] } as never);

test('keys reach each goal that can be reached, and never the other', () => {
  let state = begin(walker, times);
  const sweep = (handle: string) => {
    state = changed(walker, times, state, { do: 'move', handle, to: 0 });
    for (let at = Number.NEGATIVE_INFINITY; state.setting.at[handle]! > at; ) {
      at = state.setting.at[handle]!;
      const to = nextStop(walker.play(times, state.setting), times, handle, at, 1);
      state = changed(walker, times, state, { do: 'move', handle, to });
    }
  };
  expect(state.reached).toEqual([]);
  sweep('end');
  expect(state.reached).toEqual(['wrong']);
  state = changed(walker, times, state, { do: 'move', handle: 'end', to: times.at['unlink']! * 3 });
  sweep('reader');
  sweep('create');
  expect(new Set(state.reached)).toEqual(new Set(['wrong', 'innocent', 'nobody']));
  expect(walker.goals.find(({ name }) => name === 'elsewhere')?.can(times)).toMatch(/^No: /);
});

test('what is drawn stays on the line', () => {
  const race = raceOf(times, walker.start(times));
  expect(waitAtRecycle(race).reused).toBeLessThan(times.span);
  for (const { items } of walker.play(times, walker.start(times)).rows)
    for (const item of items)
      expect(item.kind === 'step' ? item.at : item.to).toBeLessThanOrEqual(times.span);
});
