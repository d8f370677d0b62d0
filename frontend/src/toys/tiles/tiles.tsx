// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of a game with tiles: amounts, a shelf that the viewer arranges, results, figures and goals. */

import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useReducer,
  useRef,
  useState,
} from 'react';
import { t } from '../../base/lang/t.ts';
import { ToyShell, useWidth } from '../shell.tsx';
import {
  type Amount,
  type Bar,
  beginTiles,
  type Part,
  type Shelf,
  type Tile,
  type TileAction,
  type TileGame,
  type TilePlay,
  type TileSetting,
  type TileState,
  type TileToy,
  tilesAfter,
} from './types.ts';

// Layout of tiles in rows. A tile that does not fit into a row continues in the next row. Pure.

/** The section of a tile's part that lies in one row. */
interface Segment {
  readonly tile: Tile;
  readonly part: Part;
  readonly row: number;
  /** First cell of this section within its row, from 0. */
  readonly at: number;
  readonly size: number;
  /** Whether this is the tile's first section, which receives the focus. */
  readonly first: boolean;
  /** Whether this is the part's longest section, which shows the label. */
  readonly labelled: boolean;
}

export function segmentsOf({ tiles }: Pick<Shelf, 'tiles'>, cells: number): readonly Segment[] {
  const all: Segment[] = [];
  let place = 0;
  for (const tile of tiles) {
    let first = true;
    for (const part of tile.parts) {
      const pieces: { row: number; at: number; size: number }[] = [];
      for (let left = part.size; left > 0; ) {
        const at = place % cells;
        const size = Math.min(left, cells - at);
        pieces.push({ row: Math.floor(place / cells), at, size });
        place += size;
        left -= size;
      }
      const longest = Math.max(...pieces.map(({ size }) => size));
      const words = pieces.findIndex(({ size }) => size === longest);
      for (const [i, piece] of pieces.entries()) {
        all.push({ tile, part, ...piece, first, labelled: i === words });
        first = false;
      }
    }
  }
  return all;
}

// A shelf that the viewer cannot change.

/** Width below which rows are folded, px. */
const narrowPx = 620;
/** Width of the column with row names, and average width of a letter, em. */
const [nameEm, letterEm] = [4.2, 0.54];

/** Computes the number of cells per row, and a function that says whether a label fits into some cells. */
function useRows(shelf: Shelf, font: number) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box, 720);
  const folds = width < narrowPx ? shelf.folds : 1;
  const cells = shelf.cells / folds;
  const named = shelf.rows !== undefined;
  const cell = (width - (named ? nameEm * font : 0)) / cells;
  const fits = (words: string, size: number) =>
    words.length * font * 0.92 * letterEm <= size * cell - 3;
  return { box, cells, folds, fits };
}

function ShelfHead({ shelf: { title, verdict, face } }: { readonly shelf: Shelf }) {
  return (
    <p className="tile-head">
      <b>{title}</b>
      {verdict && (
        <span className="toy-verdict" data-face={face}>
          {verdict}
        </span>
      )}
    </p>
  );
}

function rowStyle(shelf: Shelf, cells: number) {
  const names = shelf.rows === undefined ? '' : `${nameEm}em `;
  return { gridTemplateColumns: `${names}repeat(${cells}, minmax(0, 1fr))` };
}

function placeStyle(shelf: Shelf, { at, size, row }: Segment) {
  return {
    gridColumn: `${at + (shelf.rows === undefined ? 1 : 2)} / span ${size}`,
    gridRow: row + 1,
  };
}

function RowNames({ shelf, folds }: { readonly shelf: Shelf; readonly folds: number }) {
  return shelf.rows?.map((name, i) => (
    <span key={name} className="tile-row" style={{ gridColumn: 1, gridRow: i * folds + 1 }}>
      {name}
    </span>
  ));
}

function ShelfPicture({ shelf, font }: { readonly shelf: Shelf; readonly font: number }) {
  const { box, cells, fits, folds } = useRows(shelf, font);
  return (
    <div className="tile-shelf" data-testid={`shelf-${shelf.name}`}>
      <ShelfHead shelf={shelf} />
      <div
        ref={box}
        className="tile-rows"
        role="img"
        aria-label={`${shelf.title}: ${shelf.tiles.map(({ says }) => says).join('; ')}`}
        style={rowStyle(shelf, cells)}
      >
        <RowNames shelf={shelf} folds={folds} />
        {segmentsOf(shelf, cells).map((piece) => (
          <span
            key={`${piece.tile.id} ${piece.row} ${piece.at}`}
            className="tile"
            data-face={piece.part.face}
            data-look={piece.part.look}
            title={piece.tile.says}
            style={placeStyle(shelf, piece)}
          >
            {piece.labelled && fits(piece.part.label, piece.size) ? piece.part.label : ''}
          </span>
        ))}
      </div>
    </div>
  );
}

// The shelf that the viewer arranges by pointer, touch or keyboard.

interface HandShelfProps {
  readonly shelf: Shelf;
  readonly hand: TileToy['hand'];
  readonly setting: TileSetting;
  readonly font: number;
  readonly onAct: (action: TileAction) => void;
}

function HandShelf({ shelf, hand, setting, font, onAct }: HandShelfProps) {
  const { box, cells, fits, folds } = useRows(shelf, font);
  const { order, marks } = setting;
  const [at, setAt] = useState(order[0] ?? '');
  /** Whether the viewer grabbed a tile with the keyboard, so that the arrow keys move the tile. */
  const [taken, setTaken] = useState(false);
  const held = useRef<{ readonly tile: string; readonly mark: string } | null>(null);
  const follow = useRef(false);
  const current = order.includes(at) ? at : (order[0] ?? '');
  const kinds = hand === 'order' ? [] : hand;
  const make = (tile: string, mark: string) => onAct({ do: 'make', tile, mark });
  const nextMark = (tile: string) => {
    const now = kinds.findIndex(({ mark }) => mark === marks[tile]);
    return kinds[(now + 1) % kinds.length]?.mark ?? '';
  };

  // A tile keeps the focus after it was moved.
  useEffect(() => {
    if (!follow.current || order.length === 0) return;
    follow.current = false;
    box.current?.querySelector<HTMLElement>(`button[data-tile="${CSS.escape(current)}"]`)?.focus();
  }, [current, order, box]);

  const walk = (to: number) => {
    const target = order[Math.min(order.length - 1, Math.max(0, to))];
    if (target === undefined) return;
    follow.current = true;
    if (taken) onAct({ do: 'move', tile: current, to });
    else setAt(target);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const i = order.indexOf(current);
    const steps: Record<string, number> = {
      ArrowLeft: i - 1,
      ArrowRight: i + 1,
      ArrowUp: i - 1,
      ArrowDown: i + 1,
      Home: 0,
      End: order.length - 1,
    };
    const to = steps[event.key];
    const mark = kinds.find(({ mark: m }) => m.toLowerCase() === event.key.toLowerCase())?.mark;
    if (to !== undefined) walk(to);
    else if (mark !== undefined) make(current, mark);
    else if (event.key === 'Escape' && taken) setTaken(false);
    else if (event.key !== ' ' && event.key !== 'Enter') return;
    else if (hand === 'order') setTaken(!taken);
    else make(current, nextMark(current));
    event.preventDefault();
    event.stopPropagation();
  };

  const under = ({ clientX, clientY }: PointerEvent) => {
    const found = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-tile]');
    return found && box.current?.contains(found) ? found : null;
  };
  const down = (event: PointerEvent<HTMLDivElement>) => {
    const tile = event.button === 0 ? under(event)?.dataset['tile'] : undefined;
    if (tile === undefined || !order.includes(tile)) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    const mark = hand === 'order' ? '' : nextMark(tile);
    held.current = { tile, mark };
    follow.current = true;
    setTaken(false);
    setAt(tile);
    if (hand !== 'order') make(tile, mark);
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const over = held.current === null ? null : under(event);
    const tile = over?.dataset['tile'];
    if (over === null || tile === undefined || held.current === null) return;
    if (hand !== 'order') {
      make(tile, held.current.mark);
      return;
    }
    const [from, to] = [order.indexOf(held.current.tile), order.indexOf(tile)];
    const { left, width } = over.getBoundingClientRect();
    const past = event.clientX > left + width / 2;
    // A tile is swapped only after the pointer has passed its middle.
    // Otherwise tiles of different size would be swapped back and forth.
    if (to >= 0 && (to > from ? past : !past)) {
      follow.current = true;
      onAct({ do: 'move', tile: held.current.tile, to });
    }
  };
  const drop = () => {
    held.current = null;
  };

  return (
    <div className="tile-shelf" data-testid={`shelf-${shelf.name}`}>
      <ShelfHead shelf={shelf} />
      {/* biome-ignore lint/a11y/useSemanticElements: boxes in a row are no fieldset */}
      <div
        ref={box}
        className="tile-rows hand"
        role="group"
        aria-label={shelf.title}
        style={rowStyle(shelf, cells)}
        onPointerDown={down}
        onPointerMove={drag}
        onPointerUp={drop}
        onPointerCancel={drop}
        onLostPointerCapture={drop}
        onKeyDown={press}
      >
        <RowNames shelf={shelf} folds={folds} />
        {segmentsOf(shelf, cells).map((piece) => {
          const { tile, part, first, labelled, size } = piece;
          const look = {
            className: 'tile',
            'data-face': part.face,
            'data-look': part.look,
            'data-taken': taken && tile.id === current ? '' : undefined,
            title: tile.says,
            style: placeStyle(shelf, piece),
          };
          const words = labelled && fits(part.label, size) ? part.label : '';
          const key = `${tile.id} ${first ? 'first' : `${piece.row} ${piece.at}`}`;
          if (tile.gap) return <span key={key} {...look} />;
          if (!first)
            return (
              <span key={key} {...look} data-tile={tile.id} aria-hidden="true">
                {words}
              </span>
            );
          return (
            <button
              key={key}
              type="button"
              {...look}
              data-tile={tile.id}
              tabIndex={tile.id === current ? 0 : -1}
              aria-label={tile.says}
              aria-pressed={hand === 'order' ? taken && tile.id === current : undefined}
              onFocus={() => setAt(tile.id)}
            >
              {words}
            </button>
          );
        })}
      </div>
    </div>
  );
}

interface TilesFrameProps {
  readonly toy: TileToy;
  readonly game: TileGame;
  /** Name of the run that provides the data, such as "the recording x"; empty without a run. */
  readonly run: string;
  /** Text size in the picture, px. */
  readonly font?: number;
}

export function TilesFrame({ toy, game, run, font = 13 }: TilesFrameProps) {
  const [{ setting, play, reached }, act] = useReducer(
    (now: TileState, action: TileAction) => tilesAfter(game, now, action),
    null,
    () => beginTiles(game),
  );
  const source =
    game.from === null || run === ''
      ? t('No run on this page has these data, so the data are made up.')
      : t('From {run}: {from}.', { run, from: game.from });
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
      'Drag a box to another place. With the keyboard: arrow keys go from box to box, Space picks up a box or puts it down, and arrow keys move a box that is picked up.',
    );
  const kinds = hand.map(({ mark, title }) => `${mark} ${title}`).join(', ');
  return t(
    'Press a box to change it, or drag across several boxes. With the keyboard: arrow keys go from box to box, and a letter changes the box: {kinds}.',
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
        // Otherwise the arrow keys would also move the page to another moment.
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
