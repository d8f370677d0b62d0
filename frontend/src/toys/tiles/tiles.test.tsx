// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
/**
 * Tests the frame of tiles: order and kinds by keys, amounts, goals, descriptions for screen readers, and folded rows.
 */

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { segmentsOf, TilesFrame } from './tiles.tsx';
import type { TileGame, TilePlay, TileSetting, TileToy } from './types.ts';

const letters = ['a', 'b', 'c'];

/** A game with two goals: spell "cab", or make all letters big. */
const game: TileGame = {
  from: 'three letters',
  start: { order: letters, marks: { a: 's', b: 's', c: 's' }, amounts: { size: 1 } },
  amounts: [{ name: 'size', title: 'size', min: 1, max: 3, step: 1, words: (n) => `${n} cells` }],
  presets: [{ title: 'backwards', setting: { order: ['c', 'b', 'a'], marks: {}, amounts: {} } }],
  goals: [{ name: 'cab', title: 'Spell it.', can: () => 'Yes.' }],
  play: ({ order, marks, amounts }: TileSetting): TilePlay => ({
    shelf: {
      name: 'word',
      title: 'the word',
      cells: 4,
      folds: 2,
      tiles: order.map((id) => ({
        id,
        says: `${id} ${marks[id]}`,
        parts: [{ size: amounts['size'] ?? 1, label: id, face: 'work', look: 'solid' }],
      })),
    },
    results: [],
    barsTitle: 'letters',
    bars: [{ name: 'n', title: 'letters', value: 3, words: '3', face: 'gain' }],
    outcome: { words: `It reads ${order.join('')}.`, face: 'work' },
    reached: order.join('') === 'cab' ? ['cab'] : [],
  }),
};

const toyOf = (hand: TileToy['hand']): TileToy => ({
  form: 'tiles',
  title: 'Letters',
  ask: 'Spell.',
  leavesOut: 'No other letters.',
  hand,
  open: () => game,
});

afterEach(cleanup);

const tile = (id: string) => document.querySelector<HTMLElement>(`button[data-tile="${id}"]`)!;

test('arrows go from tile to tile; one that was taken up is moved, and keeps the focus', () => {
  render(<TilesFrame toy={toyOf('order')} game={game} run="the recording x" />);
  tile('a').focus();
  fireEvent.keyDown(tile('a'), { key: 'End' });
  expect(document.activeElement).toBe(tile('c'));
  fireEvent.keyDown(tile('c'), { key: ' ' });
  expect(tile('c').getAttribute('aria-pressed')).toBe('true');
  fireEvent.keyDown(tile('c'), { key: 'Home' });
  expect(document.activeElement).toBe(tile('c'));
  expect(screen.getByRole('status').textContent).toBe('It reads cab.');
  expect(screen.getByTestId('goal-cab').textContent).toContain('reached');
  fireEvent.keyDown(tile('c'), { key: 'Escape' });
  fireEvent.keyDown(tile('c'), { key: 'ArrowRight' });
  expect(screen.getByRole('status').textContent).toBe('It reads cab.');
  expect(document.activeElement).toBe(tile('a'));
  fireEvent.click(screen.getByRole('button', { name: 'reset' }));
  expect(screen.getByTestId('goal-cab').textContent).not.toContain('reached');
  fireEvent.click(screen.getByRole('button', { name: 'backwards' }));
  expect(screen.getByRole('status').textContent).toBe('It reads cba.');
});

test('a press makes a tile the next kind, a letter that kind; the page gets none of these keys', () => {
  let outside = 0;
  const listen = () => {
    outside += 1;
  };
  document.addEventListener('keydown', listen);
  const hand = [
    { mark: 's', title: 'small' },
    { mark: 'B', title: 'big' },
  ];
  render(<TilesFrame toy={toyOf(hand)} game={game} run="" />);
  fireEvent.keyDown(tile('b'), { key: 'b' });
  fireEvent.focus(tile('b'));
  fireEvent.keyDown(tile('b'), { key: 'b' });
  expect(tile('b').getAttribute('aria-label')).toBe('b B');
  fireEvent.keyDown(tile('b'), { key: ' ' });
  expect(tile('b').getAttribute('aria-label')).toBe('b s');
  fireEvent.change(screen.getByTestId('amount-size'), { target: { value: '3' } });
  expect(screen.getByText('3 cells')).toBeTruthy();
  fireEvent.keyDown(screen.getByTestId('amount-size'), { key: 'ArrowRight' });
  expect(outside).toBe(0);
  document.removeEventListener('keydown', listen);
});

test('it is marked as a rule, and says whose data it has', () => {
  render(<TilesFrame toy={toyOf('order')} game={game} run="the recording x" />);
  expect(screen.getByText('a rule, not a run')).toBeTruthy();
  expect(screen.getByTestId('toy-source').textContent).toBe(
    'From the recording x: three letters. No other letters.',
  );
  cleanup();
  render(<TilesFrame toy={toyOf('order')} game={{ ...game, from: null }} run="" />);
  expect(screen.getByTestId('toy-source').textContent).toContain('the data are made up');
});

test('what does not fit into a row goes on in the next, and its longest piece has the words', () => {
  const { shelf } = game.play({ ...game.start, amounts: { size: 3 } });
  const pieces = segmentsOf(shelf, 4).map(({ tile: { id }, row, at, size, first, labelled }) =>
    [id, row, at, size, first, labelled].join(' '),
  );
  expect(pieces).toEqual([
    'a 0 0 3 true true',
    'b 0 3 1 true false',
    'b 1 0 2 false true',
    'c 1 2 2 true true',
    'c 2 0 1 false false',
  ]);
});
