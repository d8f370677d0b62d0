// SPDX-License-Identifier: GPL-2.0-or-later
/** The shelf that a viewer arranges: by pointer, by touch, by keys. */

import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { segmentsOf } from './segments.ts';
import { placeStyle, RowNames, rowStyle, ShelfHead, useRows } from './shelf.tsx';
import type { TileAction } from './state.ts';
import type { Shelf, TileSetting, TileToy } from './types.ts';

interface Props {
  readonly shelf: Shelf;
  readonly hand: TileToy['hand'];
  readonly setting: TileSetting;
  readonly font: number;
  readonly onAct: (action: TileAction) => void;
}

export function HandShelf({ shelf, hand, setting, font, onAct }: Props) {
  const { box, cells, fits, folds } = useRows(shelf, font);
  const { order, marks } = setting;
  const [at, setAt] = useState(order[0] ?? '');
  /** Taken up by a key: arrows move it then. */
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

  // A tile that has got another place keeps the focus.
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
    // Only beyond its middle: else two tiles of unequal size would change places for ever.
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
