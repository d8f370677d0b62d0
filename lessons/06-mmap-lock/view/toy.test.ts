// SPDX-License-Identifier: GPL-2.0-or-later
/** Every place of a fault and a writer on a grid: nobody changes a region under a fault, and who waits is as the code says. */

import { begin, changed } from '@page/toys/types.ts';
import { expect, test } from 'vitest';
import { circular, type Fate, lengthOf, locks, oneLock, type Race, vmaLocks } from './toy.ts';

const change = 1000;

function* races(): Generator<Race> {
  for (const same of [false, true])
    for (const first of [false, true])
      for (let writer = 100; writer <= 1200; writer += 50)
        for (let from = 0; from <= 2500; from += 25)
          for (const length of [50, 300, 800])
            yield { writer, change, fault: { from, to: from + length }, same, first };
}

const all = [...races()];
const meet = ({ change: a, fault: b }: Fate) => a.from < b.to && b.from < a.to;

test('with one lock a fault and a change never overlap', () => {
  for (const race of all) expect(meet(oneLock(race))).toBe(false);
});

test('with VMA locks they overlap only in different regions', () => {
  for (const race of all) if (race.same) expect(meet(vmaLocks(race))).toBe(false);
  expect(all.some((race) => meet(vmaLocks(race)))).toBe(true);
});

test('in another region that has an anon_vma nobody waits with VMA locks', () => {
  for (const race of all) {
    if (race.same || race.first) continue;
    const fate = vmaLocks(race);
    expect(lengthOf(fate.faultWaits) + lengthOf(fate.writerWaits)).toBe(0);
  }
});

test('each does its whole work, whoever waits', () => {
  for (const race of all)
    for (const fate of [oneLock(race), vmaLocks(race)]) {
      expect(lengthOf(fate.change)).toBeCloseTo(change);
      expect(lengthOf(fate.fault)).toBeCloseTo(lengthOf(race.fault));
    }
});

test('a fault that gives up needs an anon_vma, and waits for the whole rest of the change', () => {
  for (const race of all) {
    const fate = vmaLocks(race);
    if (fate.vain === null) continue;
    expect(race.first).toBe(true);
    expect(fate.faultWaits.from).toBe(fate.vain.to);
    expect(fate.faultWaits.to).toBe(fate.change.to);
  }
  expect(all.filter(circular).every((race) => vmaLocks(race).vain !== null)).toBe(true);
});

test('every goal can be reached by moves and switches', () => {
  const times = locks.times(null, {} as never);
  const unit = times.at['change']!;
  const reached = new Set<string>();
  for (const names of [[], ['same'], ['first'], ['same', 'first']])
    for (let k = 0; k < 40; k++) {
      let state = begin(locks, times);
      for (const name of names) state = changed(locks, times, state, { do: 'turn', name });
      state = changed(locks, times, state, { do: 'move', handle: 'fault', to: (k / 20) * unit });
      for (const name of state.reached) reached.add(name);
    }
  expect([...reached].sort()).toEqual(locks.goals.map((goal) => goal.name).sort());
});
