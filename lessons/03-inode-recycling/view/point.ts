// SPDX-License-Identifier: GPL-2.0-or-later
/** Pointing: which mark is under the mouse, which is the next one, where a mark stands. */

import type { Mark, RunIndex } from '@page/derive/types.ts';
import type { ArrowKey } from '@page/views/contract.ts';
import { bandOf } from './draw.ts';
import { queueParts } from './draw-bands.ts';
import { flowCells } from './draw-flow.ts';
import { type Band, type Layout, pitchIn, timeAt, xOf } from './layout.ts';
import { dangerEnd, type Life, lifeAt } from './lives.ts';
import {
  type At,
  heroShapes,
  type Shape,
  shadowOf,
  statesOf,
  stripShapes,
  workerShapes,
} from './shapes.ts';

/** All that can be pointed at in a band, the topmost first. The weave and the cells are asked point by point instead. */
export function shapesOf(at: At, band: Band): readonly Shape[] {
  switch (band.name) {
    case 'thread':
      return stripShapes(at, 'state', band);
    case 'grace':
      return stripShapes(at, 'track', band);
    case 'worker':
      return workerShapes(at, band, band.top, band.height).reverse();
    case 'queue': {
      const parts = queueParts(at.layout, at.box, band);
      return workerShapes(at, band, parts.stripTop - 4, parts.strip + 8).reverse();
    }
    case 'inode': {
      const shapes = heroShapes(at, band);
      const begins = shapes.dangers.map((shape) => ({
        ...shape,
        x0: shape.x0 - 8,
        x1: shape.x0 + 8,
        y: shapes.lifeTop,
        h: shapes.lifeHeight,
      }));
      return [...begins, ...shapes.safe, ...shapes.dangers, ...shapes.states, ...shapes.shadows];
    }
    default:
      return [];
  }
}

const slack = 3;
/** No shape is wider than its times by more; see within(), and the begins of dangers. */
const reach = 16;

export function within(shape: Shape, x: number, y: number): boolean {
  const short = Math.max(0, slack - (shape.x1 - shape.x0) / 2);
  return (
    x >= shape.x0 - short && x <= shape.x1 + short && y >= shape.y - 1 && y <= shape.y + shape.h + 1
  );
}

export function hit(index: RunIndex, layout: Layout, x: number, y: number): Mark | null {
  for (const box of layout.lanes) {
    const band = box.bands.find((b) => y >= b.top - 3 && y <= b.top + b.height + 3);
    if (band === undefined || x < layout.left - 2 || x > layout.right + 2) continue;
    const at = { index, layout, box };
    if (band.name === 'inodes') return inWeave(at, band, x, y);
    if (band.name === 'flow') return inFlow(at, band, x, y);
    const near = [timeAt(layout, box, x - reach), timeAt(layout, box, x + reach)] as const;
    return shapesOf({ ...at, near }, band).find((shape) => within(shape, x, y))?.mark ?? null;
  }
  return null;
}

function inWeave(at: At, band: Band, x: number, y: number): Mark | null {
  const { box, layout } = at;
  const row = Math.floor((y - band.top) / pitchIn(band, box.rows.length));
  const ino = box.rows[Math.max(0, row)];
  if (ino === undefined) return null;
  const t = timeAt(layout, box, x);
  const life = lifeAt(box.lives, ino, t);
  if (life === null) return null;
  return markAt(at, life, t);
}

/** A cell is what it is drawn as: free ones that an old reader may still look at are shadows. */
function inFlow(at: At, band: Band, x: number, y: number): Mark | null {
  const { box, layout } = at;
  const cell = flowCells(layout, box, band).find(
    (one) =>
      x >= one.x - 1 && x <= one.x + one.side + 1 && y >= one.y - 1 && y <= one.y + one.side + 1,
  );
  if (cell === undefined) return null;
  const { life } = cell;
  const dark = box.now >= life.inactivated && box.now < life.shadowEnd;
  const shadow = dark ? shadowOf(at, life, 0, band.top, band.height) : null;
  return shadow?.mark ?? markAt(at, life, box.now);
}

function markAt(at: At, life: Life, t: number): Mark | null {
  const shapes = statesOf(at, life, 0, 20);
  const found = shapes.find((shape) => t >= shape.mark.t0 && t < shape.mark.t1)?.mark ?? null;
  if (life.early && t < dangerEnd(life) && found !== null) {
    const kind = at.index.kinds.findIndex((k) => k.name === 'early');
    return {
      ...found,
      kind,
      id: life.bornId,
      t1: found.t0 < dangerEnd(life) ? found.t1 : found.t1,
    };
  }
  return found;
}

/** Marks of a lane in the order in which the arrow keys go. */
function walk(at: At): { readonly band: Band; readonly marks: readonly Mark[] }[] {
  const { layout } = at;
  return at.box.bands.flatMap((band) => {
    const wave = band.name === 'inodes' ? weaveRow(at) : shapesOf(at, band);
    const seen = new Set<string>();
    const marks = wave
      .filter((shape) => shape.x1 >= layout.left && shape.x0 <= layout.right)
      .map((shape) => shape.mark)
      .filter((mark) => {
        const key = `${mark.kind} ${mark.id} ${mark.row}`;
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      })
      .sort((a, b) => a.t0 - b.t0 || a.kind - b.kind);
    return marks.length === 0 ? [] : [{ band, marks }];
  });
}

/** The keys walk the row of the enlarged inode; another one is chosen by going there with the mouse or the table. */
function weaveRow(at: At): readonly Shape[] {
  const { box } = at;
  if (box.bands.some((band) => band.name === 'inode') || box.hero === null) return [];
  return (box.lives.byIno.get(box.hero) ?? []).flatMap((life) => statesOf(at, life, 0, 20));
}

export function step(
  index: RunIndex,
  layout: Layout,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const rows = layout.lanes.flatMap((box) => walk({ index, layout, box }));
  if (rows.length === 0) return null;
  const same = (a: Mark, b: Mark) =>
    a.arm === b.arm && a.kind === b.kind && a.id === b.id && a.row === b.row;
  const r = from === null ? -1 : rows.findIndex((row) => row.marks.some((m) => same(m, from)));
  if (from === null || r < 0) {
    const hero = rows.find((row) => row.band.name === 'inode' || row.band.name === 'inodes');
    return (hero ?? rows[0]!).marks[0]!;
  }
  const row = rows[r]!;
  const i = row.marks.findIndex((m) => same(m, from));
  if (key === 'Home') return row.marks[0]!;
  if (key === 'End') return row.marks.at(-1)!;
  if (key === 'ArrowLeft') return row.marks[i - 1] ?? null;
  if (key === 'ArrowRight') return row.marks[i + 1] ?? null;
  const other = rows[r + (key === 'ArrowUp' ? -1 : 1)];
  if (other === undefined) return null;
  return other.marks.reduce((a, b) =>
    Math.abs(b.t0 - from.t0) < Math.abs(a.t0 - from.t0) ? b : a,
  );
}

export function placeOf(
  index: RunIndex,
  layout: Layout,
  mark: Mark,
): { readonly x: number; readonly y: number } | null {
  const box = layout.lanes.find((one) => one.arm === mark.arm);
  const band = box && bandOf(box, index.kinds[mark.kind]?.name ?? '');
  if (box === undefined || band === undefined) return null;
  const x = (xOf(layout, box, mark.t0) + xOf(layout, box, mark.t1)) / 2;
  return {
    x: Math.max(layout.left, Math.min(layout.right, x)),
    y: band.top + Math.min(band.height, 40) / 2,
  };
}
