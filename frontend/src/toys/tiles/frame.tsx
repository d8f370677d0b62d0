// SPDX-License-Identifier: GPL-2.0-or-later
/** A toy of tiles as it is played: amounts, the shelf to arrange, what comes of it, figures, goals. */

import { useReducer } from 'react';
import { t } from '../../base/lang/t.ts';
import { ToyShell } from '../shell.tsx';
import { HandShelf } from './hand.tsx';
import { ShelfPicture } from './shelf.tsx';
import { beginTiles, type TileAction, type TileState, tilesAfter } from './state.ts';
import type { Amount, Bar, TileGame, TilePlay, TileToy } from './types.ts';

interface Props {
  readonly toy: TileToy;
  readonly game: TileGame;
  /** The run whose data these are, as people name it: "the recording x"; empty: none. */
  readonly run: string;
  /** Of the text in the picture, px. */
  readonly font?: number;
}

export function TilesFrame({ toy, game, run, font = 13 }: Props) {
  const [{ setting, play, reached }, act] = useReducer(
    (now: TileState, action: TileAction) => tilesAfter(game, now, action),
    null,
    () => beginTiles(game),
  );
  const source =
    game.from === null || run === ''
      ? t('No run is shown that has these data, so they are chosen.')
      : t('Out of {run}: {from}.', { run, from: game.from });
  return (
    <ToyShell
      title={toy.title}
      ask={toy.ask}
      outcome={play.outcome}
      goals={game.goals}
      now={play.reached}
      reached={reached}
      source={`${source} ${toy.leavesOut}`}
      onReset={() => act({ do: 'reset' })}
    >
      <div className="tile-amounts">
        {game.amounts.map((amount) => (
          <AmountSlider
            key={amount.name}
            amount={amount}
            value={setting.amounts[amount.name] ?? amount.min}
            onAct={act}
          />
        ))}
        {game.presets.map(({ title, setting: whole }) => (
          <button
            key={title}
            type="button"
            className="button"
            onClick={() => act({ do: 'preset', setting: whole })}
          >
            {title}
          </button>
        ))}
      </div>
      <div className="tile-figure" style={{ fontSize: font }}>
        <HandShelf shelf={play.shelf} hand={toy.hand} {...{ setting, font }} onAct={act} />
        <p className="small quiet tile-keys">{keyWords(toy.hand)}</p>
        {play.results.map((shelf) => (
          <ShelfPicture key={shelf.name} shelf={shelf} font={font} />
        ))}
        <Bars play={play} />
      </div>
    </ToyShell>
  );
}

function keyWords(hand: TileToy['hand']): string {
  if (hand === 'order')
    return t(
      'Drag a box to another place. By keys: arrows go from box to box, space takes one up and puts it down, and arrows move it meanwhile.',
    );
  const kinds = hand.map(({ mark, title }) => `${mark} ${title}`).join(', ');
  return t(
    'Press a box to change it, or drag over several. By keys: arrows, and a letter: {kinds}.',
    { kinds },
  );
}

interface SliderProps {
  readonly amount: Amount;
  readonly value: number;
  readonly onAct: (action: TileAction) => void;
}

function AmountSlider({ amount: { name, title, words, ...range }, value, onAct }: SliderProps) {
  return (
    <label className="tile-amount">
      <span>
        {title}: <b>{words(value)}</b>
      </span>
      <input
        type="range"
        {...range}
        value={value}
        aria-valuetext={words(value)}
        onChange={({ target }) => onAct({ do: 'amount', name, to: Number(target.value) })}
        // The page's own arrows would go on to another moment.
        onKeyDown={(event) => event.stopPropagation()}
        data-testid={`amount-${name}`}
      />
    </label>
  );
}

function Bars({ play: { bars, barsTitle } }: { readonly play: TilePlay }) {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const long = ({ value }: Bar) => `${Math.max(0, (100 * value) / most)}%`;
  return (
    <figure className="tile-bars" data-testid="bars">
      <figcaption>{barsTitle}</figcaption>
      {bars.map((bar) => (
        <div key={bar.name} className="tile-bar" data-testid={`bar-${bar.name}`}>
          <span>{bar.title}</span>
          <span className="tile-track" aria-hidden="true">
            <i data-face={bar.face} style={{ width: long(bar) }} />
          </span>
          <span className="number">{bar.words}</span>
        </div>
      ))}
    </figure>
  );
}
