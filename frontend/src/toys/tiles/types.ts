// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A toy of tiles: a viewer puts them in another order, or makes each another kind of thing, and turns amounts; a view's
 * pure functions say what comes of it. The frame (tiles.tsx) knows no lesson.
 */

import type { RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ShellGoal } from '../shell.tsx';
import type { Face } from '../types.ts';

/** A piece of a tile, drawn in one way. */
export interface Part {
  /** In cells. */
  readonly size: number;
  readonly label: string;
  readonly face: Face;
  readonly look: 'solid' | 'hatched' | 'hollow';
}

export interface Tile {
  readonly id: string;
  /** What it is and where it lies, for who cannot see it. */
  readonly says: string;
  readonly parts: readonly Part[];
  /** It lies between tiles and cannot be moved. */
  readonly gap?: boolean;
}

/** Tiles one after another, in rows of so many cells. */
export interface Shelf {
  readonly name: string;
  readonly title: string;
  /** What comes of it, in a few words. */
  readonly verdict?: string;
  readonly face?: Face;
  readonly cells: number;
  /** Where there is little room, a row is folded into so many. */
  readonly folds: number;
  /** Names of the rows, unfolded. */
  readonly rows?: readonly string[];
  readonly tiles: readonly Tile[];
}

/** A number beside others of its kind. */
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

/** What a viewer has set. */
export interface TileSetting {
  /** Ids of the tiles that may be moved, in their order. */
  readonly order: readonly string[];
  /** Tile -> what it was made. */
  readonly marks: Readonly<Record<string, string>>;
  readonly amounts: Readonly<Record<string, number>>;
}

export interface TilePlay {
  /** What the viewer arranges. */
  readonly shelf: Shelf;
  /** What comes of it. */
  readonly results: readonly Shelf[];
  readonly bars: readonly Bar[];
  /** What the bars are. */
  readonly barsTitle: string;
  readonly outcome: { readonly words: string; readonly face: Face };
  readonly reached: readonly string[];
}

/** A toy with the data that it is played with. */
export interface TileGame {
  /** What of the run it has; null: no run, and the data are chosen. */
  readonly from: string | null;
  readonly start: TileSetting;
  readonly amounts: readonly Amount[];
  /** Whole settings to begin from. */
  readonly presets: readonly { readonly title: string; readonly setting: TileSetting }[];
  readonly play: (setting: TileSetting) => TilePlay;
  readonly goals: readonly ShellGoal[];
}

export interface TileToy {
  readonly form: 'tiles';
  readonly title: string;
  readonly ask: string;
  readonly leavesOut: string;
  /** What a hand does to a tile: put it elsewhere, or make it the next of these kinds. */
  readonly hand: 'order' | readonly Kind[];
  readonly open: (index: RunIndex | null, lesson: Lesson) => TileGame;
}

/** What a tile may be made, by a press or by its letter. */
export interface Kind {
  readonly mark: string;
  readonly title: string;
}

// What a viewer has done to tiles: their order, what each was made, amounts, goals reached so far. Pure.

export interface TileState {
  readonly setting: TileSetting;
  readonly play: TilePlay;
  /** Goals once reached stay so until reset. */
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
