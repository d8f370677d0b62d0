// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { cell, indexOf, storeOf } from '../../test/fixtures/drawing.ts';
import { FakeClock } from '../../test/fixtures/fake-clock.ts';
import { testLesson } from '../../test/fixtures/lesson.ts';
import { opBatch, runMessage, spanBatch } from '../../test/fixtures/messages.ts';
import { FrameLoop } from '../base/raf.ts';
import { ns } from '../base/units.ts';
import { indexRun } from '../derive/run-index.ts';
import {
  advance,
  beatMs,
  holdMs,
  initialPlayback,
  type PlaybackState,
  reduce,
  renew,
  sliderOf,
  speedOf,
  type World,
} from './machine.ts';
import { Player } from './player.ts';

const recorded = indexOf(`
  rwsem
  storm-0  R!R!R!R!R!R!R!R!R!R!
  srcu
  storm-0  RSSS!RSSS!RSSS!RSSS!
`);
const world: World = { index: recorded, reduced: false };
/** A window of four cells that plays for 400 ms, so that 1 ms of real time is one hundredth of a cell. */
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

test('behind a veil nothing plays; the window is found, and the sweep begins when the veil is lifted', () => {
  const veil = (state: PlaybackState, veiled: boolean) =>
    reduce(state, { type: 'veil', veiled }, world);
  const waits = after(veil(scope, true), 900);
  expect(seen(waits)).toEqual(['scope', 16, 16]);
  expect(seen(after(veil(waits, false), 200))).toEqual(['scope', 16, 18]);
  const plays = veil({ ...waits, mode: 'play' }, true);
  expect(after(plays, 900)).toBe(plays);
  expect(after(plays, 900, { ...world, reduced: true })).toBe(plays);
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
  // A link contains whole ns, and it must restore the same window.
  const between = reduce(inside, { type: 'seek', moment: 3 * cell + 0.3 }, world);
  expect(Number.isInteger(between.start)).toBe(true);
  const near = reduce(between, { type: 'zoom', factor: 1 / 3 }, world);
  expect([near.start, near.span].every(Number.isInteger)).toBe(true);
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

test('what was asked for is known until something else is done, also where a jump leads nowhere', () => {
  const from = { ...scope, moment: ns(9 * cell), start: ns(8 * cell) };
  const jumped = reduce(from, { type: 'divergence' }, world);
  expect(jumped.jumped).toEqual({ what: 'divergence', from: from.moment });
  expect(reduce(jumped, { type: 'pause' }, world).jumped).toBe(jumped.jumped);
  expect(reduce(jumped, { type: 'seek', moment: 0 }, world).jumped).toBeNull();
  const align = { type: 'align', alignment: 'marker' } as const;
  expect(reduce(jumped, align, world).jumped, 'by a step that opens').toBeNull();
  expect(reduce(jumped, { ...align, asked: true }, world).jumped?.what).toBe('align');
  const alone = { ...world, index: { ...world.index!, lanes: world.index!.lanes.slice(0, 1) } };
  const nowhere = reduce(from, { type: 'divergence' }, alone);
  expect([nowhere.mode, nowhere.moment, nowhere.jumped?.what]).toEqual([
    ...[from.mode, from.moment, 'divergence'],
  ]);
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

test('a link’s window and moment come back exactly, whatever was there before', () => {
  const away = { ...scope, mode: 'play' as const, moment: ns(19 * cell), start: ns(16 * cell) };
  const to = { type: 'look' as const, start: 3.25 * cell, span: 2 * cell, moment: 4.5 * cell };
  expect(seen(reduce(away, to, world))).toEqual(['paused', 3.25, 4.5]);
  expect(reduce(away, to, world).span).toBe(2 * cell);
});

test('backwards from the start begins at the end; forward again goes on from there', () => {
  const from = { ...scope, mode: 'paused' as const, moment: ns(0), start: ns(0) };
  const back = reduce(from, { type: 'play', direction: -1 }, world);
  expect(back.moment / cell).toBe(20);
  expect(seen(after(back, 200))[2]).toBe(18);
  const on = reduce(after(back, 200), { type: 'play', direction: 1 }, world);
  expect(seen(after(on, 100))[2]).toBe(19);
});

test('an operation that was asked for stays, however the window moves; else the one near it is taken', () => {
  const from = { ...scope, mode: 'paused' as const, moment: ns(9 * cell), start: ns(8 * cell) };
  const fixed = reduce(from, { type: 'align', alignment: 'operation', nth: 3 }, world);
  const moved = reduce(fixed, { type: 'window', start: 14 * cell }, world);
  expect([moved.operation, moved.offset]).toEqual([3, fixed.offset]);
  const near = reduce(from, { type: 'align', alignment: 'operation' }, world);
  expect(near.operation).toBe(2);
  expect(reduce(near, { type: 'window', start: 14 * cell }, world).operation).toBe(3);
});

test('the next loss of any lane, and from the last the first again', () => {
  const store = storeOf('rwsem\nstorm-0 R!R!R!R!R!R!R!R!\nsrcu\nstorm-0 R!R!R!R!R!R!R!R!', true);
  for (const [arm, at] of [
    ['srcu', 3],
    ['rwsem', 6],
  ] as const) {
    const span = { t0_ns: at * cell, t1_ns: (at + 1) * cell, events: 4, where: 'guest' as const };
    store.dispatch({ type: 'loss', run_id: 'r', arm, ...span } as never);
  }
  const lossy: World = { index: indexRun(store.shown()!, testLesson), reduced: false };
  let state: PlaybackState = { ...scope, mode: 'paused', moment: ns(cell) };
  const stops = [1, 2, 3].map(() => {
    state = reduce(state, { type: 'loss' }, lossy);
    return state.moment / cell;
  });
  expect(stops).toEqual([3, 6, 3]);
});

test('a live run that is paused stands still and can be scrubbed while more of it comes', () => {
  const store = storeOf('rwsem\nstorm-0 R!R!R!R!R!R!', true);
  const live = (): World => ({ index: indexRun(store.shown()!, testLesson), reduced: false });
  const still = reduce(advance(scope, 10, live()), { type: 'seek', moment: 7 * cell }, live());
  const head = { runId: 'r', arm: 'rwsem', seq: 1, watermark: 30 * cell };
  store.dispatch(spanBatch(head, [{ t0: 12 * cell, t1: 30 * cell, row: 0, kind: 0 }]));
  store.dispatch(opBatch(head, [{ t0: 12 * cell, t1: 29 * cell, row: 0 }]));
  expect(after(still, 500, live())).toBe(still);
  const back = reduce(still, { type: 'beat', direction: -1 }, live());
  expect(seen(back)).toEqual(['paused', still.start / cell, 6]);
  const newest = reduce(back, { type: 'seek', moment: 29.5 * cell }, live());
  expect(newest.moment / cell).toBe(29.5);
});

test('a link’s alignment holds although the events come after it', () => {
  const store = storeOf('rwsem\nstorm-0 R!R!\nsrcu\nstorm-0 RSSS!RSSS!', true);
  const now = (): World => ({ index: indexRun(store.shown()!, testLesson), reduced: false });
  const still = { ...scope, mode: 'paused' as const };
  const early = reduce(still, { type: 'align', alignment: 'operation', nth: 3 }, now());
  expect([...early.offset]).toEqual([]);
  expect(renew(early, now())).toBe(early);
  for (const [arm, t1] of [
    ['rwsem', 5 * cell],
    ['srcu', 12 * cell],
  ] as const) {
    const head = { runId: 'r', arm, seq: 1, watermark: 12 * cell };
    store.dispatch(opBatch(head, [{ t0: t1 - cell, t1, row: 0 }]));
  }
  const late = renew(early, now());
  expect(Object.fromEntries(late.offset)).toEqual({ rwsem: 7 * cell, srcu: 0 });
  expect(renew(late, now())).toBe(late);
});

test('a window by hand: moved it takes its moment along, zoomed the moment stays while it is in sight', () => {
  const first = { ...initialPlayback, start: ns(40), span: 2000, moment: ns(540) };
  const at = (start: number, span: number) => {
    const next = reduce(first, { type: 'view', start, span }, none);
    return [next.start, next.span, next.moment, next.mode];
  };
  const none: World = {
    index: { lanes: [{ arm: 'a', watermark: 100_000 }], live: false } as never,
    reduced: false,
  };
  expect(at(1040, 2000)).toEqual([1040, 2000, 1540, 'paused']);
  expect(at(140, 1000)).toEqual([140, 1000, 540, 'paused']);
  expect(at(5000, 1000)).toEqual([5000, 1000, 5250, 'paused']);
  // A window is never before or after the run, and never narrower than the minimum.
  expect(at(-500, 2000).slice(0, 2)).toEqual([0, 2000]);
  expect(at(1e9, 2000).slice(0, 2)).toEqual([99_800, 2000]);
  expect(at(0, 3)[1]).toBe(1000);
});
