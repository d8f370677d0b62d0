// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A game with tiles. A viewer reorders the tiles or changes their kinds, and sets amounts. The view provides pure
 * functions that compute the results. The frame (tiles.tsx) knows nothing about lessons.
 */

import type { RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ShellGoal } from '../shell.tsx';
import type { Face } from '../types.ts';

/** A part of a tile that has one appearance. */
export interface Part {
  /** Length in cells. */
  readonly size: number;
  readonly label: string;
  readonly face: Face;
  readonly look: 'solid' | 'hatched' | 'hollow';
}

export interface Tile {
  readonly id: string;
  /** Name and position of the tile, for screen readers. */
  readonly says: string;
  readonly parts: readonly Part[];
  /** Whether the tile is a fixed gap. */
  readonly gap?: boolean;
}

/** A sequence of tiles, arranged in rows that have equal length. */
export interface Shelf {
  readonly name: string;
  readonly title: string;
  /** The result of the game on this shelf, in a few words. */
  readonly verdict?: string;
  readonly face?: Face;
  readonly cells: number;
  /** Number of pieces into which each row is divided on a narrow screen. */
  readonly folds: number;
  /** Names of the rows on a wide screen. */
  readonly rows?: readonly string[];
  readonly tiles: readonly Tile[];
}

/** A number that a bar chart compares with others. */
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

/** The viewer's current setting of the game. */
export interface TileSetting {
  /** Ids of the movable tiles, in order. */
  readonly order: readonly string[];
  /** The current kind of each tile. */
  readonly marks: Readonly<Record<string, string>>;
  readonly amounts: Readonly<Record<string, number>>;
}

export interface TilePlay {
  /** The shelf that the viewer arranges. */
  readonly shelf: Shelf;
  /** Further shelves that show results. */
  readonly results: readonly Shelf[];
  readonly bars: readonly Bar[];
  /** Title of the bar chart. */
  readonly barsTitle: string;
  readonly outcome: { readonly words: string; readonly face: Face };
  readonly reached: readonly string[];
}

/** A game, with the data from which it starts. */
export interface TileGame {
  /** The part of the run that provides the data; null if the data are made up because there is no run. */
  readonly from: string | null;
  readonly start: TileSetting;
  readonly amounts: readonly Amount[];
  /** Complete settings that the viewer can choose. */
  readonly presets: readonly { readonly title: string; readonly setting: TileSetting }[];
  readonly play: (setting: TileSetting) => TilePlay;
  readonly goals: readonly ShellGoal[];
}

export interface TileToy {
  readonly form: 'tiles';
  readonly title: string;
  readonly ask: string;
  readonly leavesOut: string;
  /** How a viewer changes tiles. With `order` they move tiles; with a list of kinds they change the kind of a tile. */
  readonly hand: 'order' | readonly Kind[];
  readonly open: (index: RunIndex | null, lesson: Lesson) => TileGame;
}

/** A kind that a tile can have. The viewer selects it by a press or by the kind's letter. */
export interface Kind {
  readonly mark: string;
  readonly title: string;
}

// State of a game: order, kinds, amounts, and the goals reached so far. Pure.

export interface TileState {
  readonly setting: TileSetting;
  readonly play: TilePlay;
  /** Goals that the viewer has reached at some time. A reset of the game clears them. */
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
