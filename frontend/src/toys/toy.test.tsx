// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
/** Tests the frame of a toy: keys, switches, goals, reset, and its descriptions for screen readers. */

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { layToy, ToyFrame } from './toy.tsx';
import { begin, changed, nextStop, type Play, snapMoment, type Times, type Toy } from './types.ts';

/**
 * A toy in which the viewer puts a ball between two posts that are close together. A wall limits the ball on the left.
 */
const toy: Toy = {
  title: 'Between the posts',
  ask: 'Move it.',
  leavesOut: 'Nothing else.',
  handles: [{ name: 'ball', title: 'the ball' }],
  switches: [{ name: 'wall', title: 'a wall', on: false }],
  goals: [{ name: 'between', title: 'Between.', can: () => 'Yes: there is room.' }],
  times: () => times,
  start: () => ({ at: { ball: 0 }, on: { wall: false } }),
  limits: (_times, { on }) => ({ min: on['wall'] ? 500 : 0, max: 1000 }),
  move: (_times, setting, handle, to) => ({ ...setting, at: { ...setting.at, [handle]: to } }),
  play: (_times, { at }): Play => {
    const inside = at['ball']! > 300 && at['ball']! < 304;
    return {
      rows: [
        {
          name: 'field',
          title: 'field',
          items: [
            { kind: 'step', at: 300, label: 'one post', face: 'work' },
            { kind: 'step', at: 304, label: 'other post', face: 'work' },
            { kind: 'step', at: at['ball']!, label: 'ball', face: 'gain', handle: 'ball' },
          ],
        },
      ],
      says: { ball: inside ? 'between the posts' : 'outside' },
      outcome: { words: inside ? 'Goal.' : 'No goal.', face: inside ? 'gain' : 'work' },
      reached: inside ? ['between'] : [],
    };
  },
};
const times: Times = { at: {}, span: 1000, from: null };

afterEach(cleanup);

test('keys stop between moments that are close together, and reach the goal', () => {
  render(<ToyFrame toy={toy} times={times} run="" />);
  const ball = screen.getByRole('slider', { name: 'the ball' });
  expect(ball.getAttribute('aria-valuetext')).toBe('at 0: outside');
  for (let i = 0; i < 40 && !screen.queryByText('Goal.'); i++)
    fireEvent.keyDown(ball, { key: 'ArrowRight' });
  expect(ball.getAttribute('aria-valuetext')).toBe('at 302 ns: between the posts');
  expect(screen.getByRole('status').textContent).toBe('Goal.');
  fireEvent.keyDown(ball, { key: 'End' });
  expect(ball.getAttribute('aria-valuenow')).toBe('1000');
  expect(screen.getByTestId('goal-between').textContent).toContain('reached');
  fireEvent.click(screen.getByRole('button', { name: 'reset' }));
  expect(screen.getByTestId('goal-between').textContent).not.toContain('reached');
});

test('the page behind gets none of the keys that move a handle', () => {
  let outside = 0;
  const listen = () => {
    outside += 1;
  };
  document.addEventListener('keydown', listen);
  render(<ToyFrame toy={toy} times={times} run="" />);
  const ball = screen.getByRole('slider');
  fireEvent.keyDown(ball, { key: 'ArrowRight' });
  expect(outside).toBe(0);
  fireEvent.keyDown(ball, { key: 'p' });
  expect(outside).toBe(1);
  document.removeEventListener('keydown', listen);
});

test('a switch that narrows the limits takes the handle along', () => {
  const state = changed(toy, times, begin(toy, times), { do: 'turn', name: 'wall' });
  expect(state.setting.at['ball']).toBe(500);
});

test('it is marked as a rule, and says whose distances it has', () => {
  const { rerender } = render(<ToyFrame toy={toy} times={times} run="the recording x" />);
  expect(screen.getByText('a rule, not a run')).toBeTruthy();
  expect(screen.getByTestId('toy-source').textContent).toContain('made up, not measured');
  rerender(<ToyFrame toy={toy} times={{ ...times, from: 'two posts' }} run="the recording x" />);
  expect(screen.getByTestId('toy-source').textContent).toContain(
    'Distances from the recording x: two posts.',
  );
});

test('whether a goal can be reached is said when somebody asks', () => {
  render(<ToyFrame toy={toy} times={times} run="" />);
  expect(screen.queryByText('Yes: there is room.')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /Can it be done/ }));
  expect(screen.getByText('Yes: there is room.')).toBeTruthy();
});

test('a pointer is caught between moments that a hand could not hit, and nowhere else', () => {
  const play = toy.play(times, toy.start(times));
  expect(snapMoment(play, 'ball', 305, 12)).toBe(302);
  expect(snapMoment(play, 'ball', 320, 12)).toBe(320);
  expect(nextStop(play, times, 'ball', 302, 1)).toBeGreaterThan(304);
});

test.each([360, 900])('labels of a row do not run into each other at %i px', (width) => {
  const play = toy.play(times, { at: { ball: 302 }, on: {} });
  const { rows } = layToy(play.rows, [], times.span, width, 13);
  const { labels } = rows[0]!;
  expect(labels.length).toBe(3);
  for (const a of labels)
    for (const b of labels)
      if (a !== b && a.y === b.y) expect(Math.abs(a.x - b.x)).toBeGreaterThan(30);
  for (const { x, text } of labels) expect(x + text.length * 6).toBeLessThan(width);
});
