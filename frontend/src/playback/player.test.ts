// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Text shows a painted frame. At rest it is the current frame; while the moment moves, it is at most a tenth of a
 * second old.
 */

import { expect, test, vi } from 'vitest';
import { cell, indexOf } from '../../test/fixtures/drawing.ts';
import { FakeClock } from '../../test/fixtures/fake-clock.ts';
import { FrameLoop } from '../base/raf.ts';
import type { Action } from './machine.ts';
import { Player, textEveryMs } from './player.ts';

const index = indexOf(`
  rwsem
  storm-0  R!R!R!R!R!R!R!R!R!R!R!R!R!R!R!R!R!R!R!R!
  srcu
  storm-0  RSSS!RSSS!RSSS!RSSS!RSSS!RSSS!RSSS!RSSS!
`);
const frameMs = 1000 / 60;

function playing() {
  const clock = new FakeClock();
  const player = new Player(new FrameLoop(clock), () => ({ index, reduced: false }));
  player.run();
  player.do({ type: 'look', start: 0, span: 20 * cell, moment: 0 });
  clock.pass(100);
  return { clock, player, same: () => player.textFrame() === player.frame.get() };
}

test('at rest text is of the frame that canvases draw, whatever led there', () => {
  const { clock, player, same } = playing();
  const acts: readonly Action[] = [
    ...([1, -1] as const).flatMap((direction) => [
      { type: 'beat', direction } as const,
      { type: 'event', direction } as const,
    ]),
    { type: 'seek', moment: 7 * cell },
    { type: 'window', start: 4 * cell },
    { type: 'zoom', factor: 0.5 },
    { type: 'divergence' },
    { type: 'align', alignment: 'operation' },
  ];
  for (const action of acts) {
    player.do(action);
    expect(same(), `${action.type}, at once`).toBe(true);
    clock.pass(50);
    expect(same(), `${action.type}, then`).toBe(true);
  }
  player.do({ type: 'speed', speed: 1e-3 });
  player.do({ type: 'play' });
  clock.pass(333);
  player.do({ type: 'pause' });
  expect(same(), 'paused').toBe(true);
  for (let cells = 1; cells < 12; cells++) {
    player.do({ type: 'seek', moment: cells * cell * 0.37 });
    player.do({ type: 'play', direction: -1 });
    clock.pass(20_000);
    expect([player.state.mode, same()], `come to the begin from ${cells}`).toEqual([
      ...['paused', true],
    ]);
  }
});

test('while it moves text is at most a tenth of a second old, and of a frame that was painted', () => {
  const { clock, player } = playing();
  player.do({ type: 'speed', speed: 1e-4 });
  player.do({ type: 'play' });
  const painted = new Set<unknown>();
  let at = clock.nowMs;
  let text = player.textFrame();
  for (let i = 0; i < 120; i++) {
    clock.pass(frameMs);
    painted.add(player.frame.get());
    if (player.textFrame() !== text) [at, text] = [clock.nowMs, player.textFrame()];
    expect(painted.has(text) || i < 7).toBe(true);
    expect(clock.nowMs - at).toBeLessThanOrEqual(textEveryMs + frameMs);
  }
});

test('where the window turns, or begins again, text turns with it', () => {
  const { clock, player, same } = playing();
  player.do({ type: 'speed', speed: 2e-3 });
  player.do({ type: 'play' });
  let [turns, start] = [0, player.state.start];
  for (let i = 0; i < 200; i++) {
    clock.pass(frameMs);
    if (player.state.start === start) continue;
    start = player.state.start;
    turns += 1;
    if (player.state.mode !== 'paused') expect(same(), `turn ${turns}`).toBe(true);
  }
  expect(turns).toBeGreaterThan(0);
  player.do({ type: 'look', start: 0, span: 4 * cell, moment: 0 });
  player.do({ type: 'resume' });
  let before = player.state.moment;
  for (let i = 0; i < 400; i++) {
    clock.pass(frameMs);
    if (player.state.moment < before) expect(same(), 'again from the begin').toBe(true);
    before = player.state.moment;
  }
});

test('a person who moves the playback is reported; the page, and what leaves the moment where it is, are not', () => {
  const { player } = playing();
  const moved = vi.fn();
  player.moved.subscribe(moved);
  player.do({ type: 'seek', moment: 5 * cell }, 'page');
  player.do({ type: 'select', mark: null });
  player.do({ type: 'pause' });
  expect(moved).not.toHaveBeenCalled();
  player.do({ type: 'seek', moment: 6 * cell });
  player.do({ type: 'play' });
  expect(moved).toHaveBeenCalledTimes(2);
});
