// SPDX-License-Identifier: GPL-2.0-or-later
/** A shelf that is only looked at. */

import { useRef } from 'react';
import { useWidth } from '../use-width.ts';
import { type Segment, segmentsOf } from './segments.ts';
import type { Shelf } from './types.ts';

/** A row is folded where it has less room than this, px. */
const narrowPx = 620;
/** Of a row's name, and of a letter, in widths of the text. */
const [nameEm, letterEm] = [4.2, 0.54];

/** Cells of a row, and whether words fit into a piece of so many. */
export function useRows(shelf: Shelf, font: number) {
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

export function ShelfHead({ shelf: { title, verdict, face } }: { readonly shelf: Shelf }) {
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

export function rowStyle(shelf: Shelf, cells: number) {
  const names = shelf.rows === undefined ? '' : `${nameEm}em `;
  return { gridTemplateColumns: `${names}repeat(${cells}, minmax(0, 1fr))` };
}

export function placeStyle(shelf: Shelf, { at, size, row }: Segment) {
  return {
    gridColumn: `${at + (shelf.rows === undefined ? 1 : 2)} / span ${size}`,
    gridRow: row + 1,
  };
}

export function RowNames({ shelf, folds }: { readonly shelf: Shelf; readonly folds: number }) {
  return shelf.rows?.map((name, i) => (
    <span key={name} className="tile-row" style={{ gridColumn: 1, gridRow: i * folds + 1 }}>
      {name}
    </span>
  ));
}

export function ShelfPicture({ shelf, font }: { readonly shelf: Shelf; readonly font: number }) {
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
