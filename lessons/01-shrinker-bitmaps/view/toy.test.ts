// SPDX-License-Identifier: GPL-2.0-or-later
/** Every order of the steps, with and without each piece of care. */

import { begin, changed, nextStop } from '@page/toys/types.ts';
import { expect, test } from 'vitest';
import { arrival, type Care, count, type Op, orderOf, orders, outcomeOf } from './toy.ts';

const full: Care = { second: true, walkBarrier: true, addBarrier: true };
const lostOrders = (care: Care) =>
  orders(care)
    .filter((order) => outcomeOf(order).lost)
    .map((order) => order.join(' '));

test('with the second check and both barriers no order loses the object', () => {
  // Three steps and two, each in its own order: 5! / (3! 2!).
  expect(count(full)).toEqual({ all: 10, lost: 0 });
});

test('without the second check it is lost between look and clear, and nowhere else', () => {
  expect(lostOrders({ ...full, second: false })).toEqual(['look add set clear']);
});

test('without the barrier of the walk a clear may be seen after the second check', () => {
  const lost = lostOrders({ ...full, walkBarrier: false });
  expect(lost).toEqual(['look again add set clear']);
});

test('without the barrier of the arrival a bit may be seen before its object', () => {
  const lost = lostOrders({ ...full, addBarrier: false });
  expect(lost.length).toBeGreaterThan(0);
  for (const order of lost) {
    const at = (op: Op) => order.split(' ').indexOf(op);
    expect(at('set') < at('clear') && at('again') < at('add')).toBe(true);
  }
});

test('a lost object is one that no look has seen and whose bit was set before the clear', () => {
  for (const second of [true, false])
    for (const walkBarrier of [true, false])
      for (const addBarrier of [true, false])
        for (const order of orders({ second, walkBarrier, addBarrier })) {
          const at = (op: Op) => order.indexOf(op);
          const seen = at('add') < at('look') || (second && at('add') < at('again'));
          expect(outcomeOf(order).lost, order.join(' ')).toBe(!seen && at('set') < at('clear'));
        }
});

const times = arrival.times(null, { arms: [] } as never);

test('a run without such steps gets chosen distances, and says so', () => {
  expect(times.from).toBeNull();
  expect(times.at['look']! < times.at['clear']! && times.at['clear']! < times.at['again']!).toBe(
    true,
  );
});

/** The last handle goes everywhere; the others in longer steps, for there are thousands of places. */
const presses: Readonly<Record<string, number>> = { clear: 8, add: 3, set: 1 };

/** Every place that keys reach for each handle, under these switches. */
function reachable(off: readonly string[]): ReadonlySet<string> {
  const from = off.reduce(
    (state, name) => changed(arrival, times, state, { do: 'turn', name }),
    begin(arrival, times),
  );
  const seen = new Set<string>();
  const walk = (state: typeof from, handles: readonly string[]) => {
    const [handle, ...rest] = handles;
    if (handle === undefined) {
      seen.add(orderOf(times, state.setting).join(' '));
      return;
    }
    const { min } = arrival.limits(times, state.setting, handle);
    let now = changed(arrival, times, state, { do: 'move', handle, to: min });
    for (let at = Number.NEGATIVE_INFINITY; now.setting.at[handle]! > at; ) {
      at = now.setting.at[handle]!;
      walk(now, rest);
      for (let press = 0; press < presses[handle]!; press++) {
        const play = arrival.play(times, now.setting);
        const to = nextStop(play, times, handle, now.setting.at[handle]!, 1);
        now = changed(arrival, times, now, { do: 'move', handle, to });
      }
    }
  };
  walk(from, ['clear', 'add', 'set']);
  return seen;
}

test.each([
  [[], full],
  [['second'], { ...full, second: false }],
  [['walkBarrier'], { ...full, walkBarrier: false }],
  [['addBarrier'], { ...full, addBarrier: false }],
] as const)('keys reach exactly the possible orders, without %s', (off, care) => {
  const all = orders(care).map((order) => order.join(' '));
  expect([...reachable(off)].toSorted()).toEqual(all.toSorted());
});

test('a barrier that is put back brings a late clear back', () => {
  const act = (state: ReturnType<typeof begin>, name: string) =>
    changed(arrival, times, state, { do: 'turn', name });
  let state = act(begin(arrival, times), 'walkBarrier');
  state = changed(arrival, times, state, { do: 'move', handle: 'clear', to: times.span });
  expect(state.setting.at['clear']!).toBeGreaterThan(times.at['again']!);
  state = act(state, 'walkBarrier');
  expect(state.setting.at['clear']!).toBeLessThan(times.at['again']!);
});

test('a goal once reached stays reached until reset', () => {
  let state = changed(arrival, times, begin(arrival, times), { do: 'turn', name: 'second' });
  expect(state.reached).toEqual(['naive']);
  state = changed(arrival, times, state, { do: 'turn', name: 'second' });
  expect(state.reached).toEqual(['naive']);
  expect(changed(arrival, times, state, { do: 'reset' }).reached).toEqual([]);
});
