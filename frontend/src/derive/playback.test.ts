// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { cell, indexOf, storeOf } from '../../test/fixtures/drawing.ts';
import { FakeClock } from '../../test/fixtures/fake-clock.ts';
import { testLesson } from '../../test/fixtures/lesson.ts';
import { opBatch, runMessage, spanBatch } from '../../test/fixtures/messages.ts';
import { FrameLoop } from '../base/raf.ts';
import { ns } from '../base/units.ts';
import {
  advance,
  beatMs,
  holdMs,
  initialPlayback,
  type PlaybackState,
  reduce,
  type World,
} from './playback.ts';
import { Player } from './player.ts';
import { indexRun } from './run-index.ts';
import { sliderOf, speedOf } from './speed.ts';

const recorded = indexOf(`
  rwsem
  storm-0  R!R!R!R!R!R!R!R!R!R!
  srcu
  storm-0  RSSS!RSSS!RSSS!RSSS!
`);
const world: World = { index: recorded, reduced: false };
/** A window of four cells that lasts 400 ms: 1 ms here is one hundredth of a cell. */
const scope: PlaybackState = { ...initialPlayback, span: 4 * cell, speed: 1e-3, alignment: 'time' };

function after(state: PlaybackState, ms: number, w = world, stepMs = 10): PlaybackState {
  let s = state;
  for (let t = 0; t < ms; t += stepMs) s = advance(s, stepMs, w);
  return s;
}

const seen = (s: PlaybackState) => [
  s.mode,
  s.start / cell,
  Math.round((s.moment / cell) * 100) / 100,
];

test('the scope arms itself, sweeps its window, holds, and goes to the next', () => {
  const armed = advance(scope, 10, world);
  expect(seen(armed)).toEqual(['scope', 16, 16]);
  const half = after(armed, 200);
  expect(seen(half)).toEqual(['scope', 16, 18]);
  const end = after(half, 200);
  expect(seen(end)).toEqual(['scope', 16, 20]);
  expect(seen(after(end, holdMs - 20))).toEqual(['scope', 16, 20]);
  expect(seen(after(end, holdMs + 20))[1]).toBe(0);
});

test('while live, the scope re-arms with the newest complete window', () => {
  const store = storeOf('rwsem\nstorm-0 R!R!R!R!', true);
  const live = (): World => ({ index: indexRun(store.shown()!, testLesson), reduced: false });
  const armed = advance(scope, 10, live());
  expect(armed.start / cell).toBe(4);
  const head = { runId: 'r', arm: 'rwsem', seq: 1, watermark: 30 * cell };
  store.dispatch(spanBatch(head, [{ t0: 8 * cell, t1: 30 * cell, row: 0, kind: 0 }]));
  store.dispatch(opBatch(head, [{ t0: 8 * cell, t1: 29 * cell, row: 0 }]));
  const next = after(armed, 400 + holdMs + 20, live());
  expect(next.start / cell).toBe(26);
});

test('without events the scope waits, unarmed', () => {
  const none: World = { index: null, reduced: false };
  expect(after(scope, 500, none).armed).toBe(false);
  expect(after(scope, 500, none).moment).toBe(0);
});

test('scrubbing pauses; the window comes along only when the moment leaves it', () => {
  const armed = advance(scope, 10, world);
  const inside = reduce(armed, { type: 'seek', moment: 17 * cell }, world);
  expect(seen(inside)).toEqual(['paused', 16, 17]);
  expect(after(inside, 1000)).toBe(inside);
  const outside = reduce(inside, { type: 'seek', moment: 3 * cell }, world);
  expect(seen(outside)).toEqual(['paused', 1.4, 3]);
  const beyond = reduce(inside, { type: 'seek', moment: 99 * cell }, world);
  expect(beyond.moment / cell).toBe(20);
});

test('playing on turns the window like a page, and stops at the end of a recording', () => {
  const from = { ...scope, mode: 'play' as const, moment: ns(3 * cell), start: ns(0) };
  expect(seen(after(from, 200))).toEqual(['play', 4, 5]);
  expect(seen(after(from, 5000))).toEqual(['paused', 16, 20]);
  const again = reduce(after(from, 5000), { type: 'play' }, world);
  expect(seen(again)).toEqual(['play', 0, 0]);
});

test('backward is the same way back', () => {
  const from = { ...scope, mode: 'paused' as const, moment: ns(9 * cell), start: ns(8 * cell) };
  const back = reduce(from, { type: 'reverse' }, world);
  expect(seen(after(back, 300))).toEqual(['play', 4, 6]);
  expect(seen(after(back, 5000))).toEqual(['paused', 0, 0]);
});

test('beats and events step and stand', () => {
  const from = { ...scope, mode: 'paused' as const, moment: ns(4.5 * cell), start: ns(4 * cell) };
  const beat = reduce(from, { type: 'beat', direction: 1 }, world);
  expect(seen(beat)).toEqual(['paused', 4, 5]);
  expect(seen(reduce(beat, { type: 'beat', direction: -1 }, world))[2]).toBe(4);
  expect(seen(reduce(from, { type: 'event', direction: 1 }, world))[2]).toBe(5);
});

test('reduced motion: beats instead of motion, then the end of the window', () => {
  const still: World = { index: recorded, reduced: true };
  const armed = advance(scope, 10, still);
  const moments = new Set<number>();
  let s = armed;
  for (let t = 0; t < beatMs * 6; t += 50) {
    s = advance(s, 50, still);
    if (s.start === armed.start) moments.add(s.moment / cell);
  }
  expect([...moments]).toEqual([16, 18, 20]);
});

test('the end of a window that repeats: the scope stays where the scene looks', () => {
  const place = {
    start: ns(2 * cell),
    span: 4 * cell,
    moment: ns(5 * cell),
    follows: false,
    known: true,
  };
  const s = reduce(scope, { type: 'place', place, seconds: 0.4, focus: ['running'] }, world);
  expect(seen(s)).toEqual(['scope', 2, 2]);
  expect(after(s, 400 + holdMs + 60).start / cell).toBe(2);
  const still = reduce(scope, { type: 'place', place, seconds: 1, focus: [], paused: true }, world);
  expect(seen(still)).toEqual(['paused', 2, 5]);
});

test('a place that was found is played first, even if there are newer windows', () => {
  const place = {
    start: ns(2 * cell),
    span: 4 * cell,
    moment: ns(2 * cell),
    follows: true,
    known: true,
  };
  const s = reduce(scope, { type: 'place', place, seconds: 0.4, focus: [] }, world);
  expect(seen(after(s, 200))).toEqual(['scope', 2, 4]);
  expect(after(s, 400 + holdMs + 60).start / cell).toBe(6);
  const none = reduce(
    scope,
    { type: 'place', place: { ...place, known: false }, seconds: 0.4, focus: [] },
    world,
  );
  expect(advance(none, 10, world).start / cell).toBe(16);
});

test('zoom keeps the moment where it stands on the screen', () => {
  const from = { ...scope, mode: 'paused' as const, moment: ns(9 * cell), start: ns(8 * cell) };
  const wide = reduce(from, { type: 'zoom', factor: 2 }, world);
  expect([(wide.moment - wide.start) / wide.span, wide.span / cell]).toEqual([0.25, 8]);
});

test('speed is logarithmic from 10^-6 to 10 with round words', () => {
  expect([1e-6, 1e-3, 0.1, 10].map((v) => speedOf(sliderOf(v)))).toEqual([1e-6, 1e-3, 0.1, 10]);
  expect([speedOf(-1), speedOf(2)]).toEqual([1e-6, 10]);
  expect(sliderOf(1e-6)).toBe(0);
  expect(sliderOf(10)).toBeCloseTo(1);
});

test('the player: live on the wall clock at most 20 frames, text at most 10 times a second, asleep when paused', () => {
  const store = new Store20();
  const clock = new FakeClock();
  const player = new Player(new FrameLoop(clock), () => ({ index: store.index(), reduced: false }));
  let frames = 0;
  let texts = 0;
  player.frame.subscribe(() => frames++);
  player.texts.subscribe(() => texts++);
  player.run();
  player.do({ type: 'play' });
  player.do({ type: 'speed', speed: 1e-6 });
  clock.pass(200);
  [frames, texts] = [0, 0];
  clock.pass(1000);
  expect(frames).toBeLessThanOrEqual(20);
  expect(frames).toBeGreaterThan(15);
  expect(texts).toBeLessThanOrEqual(10);
  expect(texts).toBeGreaterThan(5);
  player.do({ type: 'pause' });
  clock.pass(200);
  expect(clock.sleeping).toBe(true);
});

class Store20 {
  readonly #store = storeOf('rwsem\nstorm-0 R!R!R!R!R!R!', true);
  constructor() {
    this.#store.dispatch(runMessage('r', ['rwsem'], 'running', 'live'));
  }
  index() {
    return indexRun(this.#store.shown()!, testLesson);
  }
}
