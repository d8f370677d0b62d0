// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/fixtures/fake-clock.ts';
import { FrameLoop } from './raf.ts';

test('the loop sleeps when nobody wants another frame, and wakes once per call', () => {
  const clock = new FakeClock();
  const loop = new FrameLoop(clock);
  let drawn = 0;
  loop.add(() => {
    drawn += 1;
    return false;
  });
  clock.pass(500);
  expect([drawn, clock.sleeping]).toEqual([1, true]);
  loop.wake();
  loop.wake();
  clock.pass(500);
  expect([drawn, clock.sleeping]).toEqual([2, true]);
});

test('with maxFps 20 a second holds at most 20 frames', () => {
  const clock = new FakeClock();
  const loop = new FrameLoop(clock);
  loop.maxFps = 20;
  let frames = 0;
  let spent = 0;
  loop.add((_now, dt) => {
    frames += 1;
    spent += dt;
    return true;
  });
  clock.pass(1000);
  expect(frames).toBeGreaterThanOrEqual(18);
  expect(frames).toBeLessThanOrEqual(20);
  expect(spent).toBeGreaterThan(900);
});

test('what moves time goes before what draws it, whoever came first', () => {
  const clock = new FakeClock();
  const loop = new FrameLoop(clock);
  const order: string[] = [];
  loop.add(() => order.push('draw') > 9, 'draw');
  loop.add(() => order.push('move') > 9, 'move');
  clock.pass(20);
  expect(order.slice(0, 2)).toEqual(['move', 'draw']);
});

test('a loop that everybody left asks for no more frames', () => {
  const clock = new FakeClock();
  const loop = new FrameLoop(clock);
  const leave = loop.add(() => true);
  clock.pass(50);
  leave();
  expect(clock.sleeping).toBe(true);
});
