// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A game with tiles. A viewer reorders them, or changes their kinds, and sets amounts. A view's pure functions compute
 * the results; the frame (tiles.tsx) knows no lesson.
 */

import type { RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ShellGoal } from '../shell.tsx';
import type { Face } from '../types.ts';

/** A piece of a tile with one appearance. */
export interface Part {
  /** Length in cells. */
  readonly size: number;
  readonly label: string;
  readonly face: Face;
  readonly look: 'solid' | 'hatched' | 'hollow';
}

export interface Tile {
  readonly id: string;
  /** Name and position, for screen readers. */
  readonly says: string;
  readonly parts: readonly Part[];
  /** A fixed gap between tiles. */
  readonly gap?: boolean;
}

/** Tiles in sequence, in rows of a number of cells. */
export interface Shelf {
  readonly name: string;
  readonly title: string;
  /** The result, in a few words. */
  readonly verdict?: string;
  readonly face?: Face;
  readonly cells: number;
  /** Number of rows into which a row is folded on narrow screens. */
  readonly folds: number;
  /** Names of the rows, unfolded. */
  readonly rows?: readonly string[];
  readonly tiles: readonly Tile[];
}

/** A number, compared with others in a bar chart. */
export interface Bar {
  readonly name: string;
  readonly title: string;
  readonly value: number;
  readonly words: string;
  readonly face: Face;
}

export interface Amount {
  readonly name: string;
  readonly title: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly words: (value: number) => string;
}

/** The viewer's current setting. */
export interface TileSetting {
  /** Ids of the movable tiles, in order. */
  readonly order: readonly string[];
  /** Tile -> its kind. */
  readonly marks: Readonly<Record<string, string>>;
  readonly amounts: Readonly<Record<string, number>>;
}

export interface TilePlay {
  /** The shelf that the viewer arranges. */
  readonly shelf: Shelf;
  /** Shelves that show the result. */
  readonly results: readonly Shelf[];
  readonly bars: readonly Bar[];
  /** Title of the bar chart. */
  readonly barsTitle: string;
  readonly outcome: { readonly words: string; readonly face: Face };
  readonly reached: readonly string[];
}

/** A game with its data. */
export interface TileGame {
  /** Source of the data in the run; null: no run, the data are chosen. */
  readonly from: string | null;
  readonly start: TileSetting;
  readonly amounts: readonly Amount[];
  /** Complete settings to start from. */
  readonly presets: readonly { readonly title: string; readonly setting: TileSetting }[];
  readonly play: (setting: TileSetting) => TilePlay;
  readonly goals: readonly ShellGoal[];
}

export interface TileToy {
  readonly form: 'tiles';
  readonly title: string;
  readonly ask: string;
  readonly leavesOut: string;
  /** What a user can do with a tile: move it, or cycle through these kinds. */
  readonly hand: 'order' | readonly Kind[];
  readonly open: (index: RunIndex | null, lesson: Lesson) => TileGame;
}

/** A kind that a tile can get, by a press or its letter. */
export interface Kind {
  readonly mark: string;
  readonly title: string;
}

// State of a game: order, kinds, amounts, goals reached so far. Pure.

export interface TileState {
  readonly setting: TileSetting;
  readonly play: TilePlay;
  /** Reached goals stay until reset. */
  readonly reached: readonly string[];
}

export type TileAction =
  | { readonly do: 'move'; readonly tile: string; readonly to: number }
  | { readonly do: 'make'; readonly tile: string; readonly mark: string }
  | { readonly do: 'amount'; readonly name: string; readonly to: number }
  | { readonly do: 'preset'; readonly setting: TileSetting }
  | { readonly do: 'reset' };

export function beginTiles(game: TileGame): TileState {
  const play = game.play(game.start);
  return { setting: game.start, play, reached: play.reached };
}

export function tilesAfter(game: TileGame, state: TileState, action: TileAction): TileState {
  if (action.do === 'reset') return beginTiles(game);
  const setting = settingAfter(game, state.setting, action);
  if (setting === state.setting) return state;
  const play = game.play(setting);
  return { setting, play, reached: [...new Set([...state.reached, ...play.reached])] };
}

function settingAfter(
  game: TileGame,
  setting: TileSetting,
  action: Exclude<TileAction, { readonly do: 'reset' }>,
): TileSetting {
  switch (action.do) {
    case 'preset':
      return action.setting;
    case 'move':
      return moved(setting, action.tile, action.to);
    case 'make':
      return setting.marks[action.tile] === action.mark
        ? setting
        : { ...setting, marks: { ...setting.marks, [action.tile]: action.mark } };
    case 'amount': {
      const amount = game.amounts.find(({ name }) => name === action.name);
      if (amount === undefined || !Number.isFinite(action.to)) return setting;
      const to = Math.min(amount.max, Math.max(amount.min, action.to));
      return { ...setting, amounts: { ...setting.amounts, [action.name]: to } };
    }
  }
}

function moved(setting: TileSetting, tile: string, to: number): TileSetting {
  const from = setting.order.indexOf(tile);
  const target = Math.min(setting.order.length - 1, Math.max(0, to));
  if (from < 0 || from === target) return setting;
  const order = setting.order.filter((id) => id !== tile);
  order.splice(target, 0, tile);
  return { ...setting, order };
}
