// SPDX-License-Identifier: GPL-2.0-or-later
/** Tiles in rows: what does not fit into a row goes on in the next. Pure. */

import type { Part, Shelf, Tile } from './types.ts';

/** A piece of a part within one row. */
export interface Segment {
  readonly tile: Tile;
  readonly part: Part;
  readonly row: number;
  /** First cell of its row, from 0. */
  readonly at: number;
  readonly size: number;
  /** The tile's first piece: what is focused. */
  readonly first: boolean;
  /** Of the part's pieces the longest: what has the words. */
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
