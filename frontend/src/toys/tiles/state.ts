// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer has done to tiles: their order, what each was made, amounts, goals reached so far. Pure. */

import type { TileGame, TilePlay, TileSetting } from './types.ts';

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
