// SPDX-License-Identifier: GPL-2.0-or-later
/** Finds what a pointer can select (shapes in bands, rows of the weave, cells of inodes), and where a mark is drawn. */

import type { Mark, RunIndex } from '@page/derive/types.ts';
import type { Box, Item, Row } from '@page/views/contract.ts';
import { queueParts } from './draw-bands.ts';
import { type Cell, flowCells } from './draw-flow.ts';
import { type Band, kindAt, type LaneBox, type Layout, pitchIn, timeAt, xOf } from './layout.ts';
import { dangerEnd, type Life, livesIn } from './lives.ts';
import {
  type At,
  heroShapes,
  type Shape,
  shadowOf,
  statesOf,
  stripShapes,
  workerShapes,
} from './shapes.ts';

/** Return the shapes in a band of strips. The enlarged inode, the weave and the cells have their own items. */
export function shapesOf(at: At, band: Band): readonly Shape[] {
  switch (band.name) {
    case 'thread':
      return stripShapes(at, 'state', band);
    case 'grace':
      return stripShapes(at, 'track', band);
    case 'worker':
      return workerShapes(at, band, band.top, band.height);
    case 'queue': {
      const parts = queueParts(at.layout, at.box, band);
      return workerShapes(at, band, parts.stripTop - 4, parts.strip + 8);
    }
    default:
      return [];
  }
}

/** Largest horizontal distance at which a pointer still hits a shape, px. */
const slop = 3;
/** Largest horizontal distance at which a pointer still hits the start of an early reuse in the row of lives, px. */
const around = 8;

/** Ranks that decide which shape is on top. */
const ranks: Readonly<Record<string, number>> = {
  ...{ reuse: 3, early: 2, worker_wait: 1 },
  ...{ alive: 1, queued: 1, free: 1, wait_gp: 1, gp: 1 },
};

function itemOf({ kind, mark, x0, x1, y, h }: Shape): Item {
  const brief = x1 - x0 < 2 * slop;
  return { mark, box: { x: x0, y, w: x1 - x0, h }, rank: ranks[kind] ?? 0, brief };
}

function heroItems(at: At, band: Band): readonly Item[] {
  const { safe, dangers, states, shadows, lifeTop: y, lifeHeight: h } = heroShapes(at, band);
  const begins = dangers.map(({ mark, x0 }): Item => {
    const box = { x: x0 - around, y, w: 2 * around, h };
    return { mark, box, rank: 3, pointerOnly: true };
  });
  return [...begins, ...[...safe, ...dangers, ...states, ...shadows].map(itemOf)];
}

function itemsIn(at: At, band: Band): readonly Item[] {
  const items = band.name === 'inode' ? heroItems(at, band) : shapesOf(at, band).map(itemOf);
  return items.toSorted((a, b) => a.mark.t0 - b.mark.t0 || a.mark.kind - b.mark.kind);
}

export function rowsOf(index: RunIndex, layout: Layout): readonly Row[] {
  const { left, right } = layout;
  return layout.lanes.flatMap((box) =>
    box.bands.flatMap((band): readonly Row[] => {
      const at: At = { index, layout, box };
      const { arm } = box;
      const area = { x: left, y: band.top, w: right - left, h: band.height };
      if (band.name === 'inodes') return weaveRows(at, band);
      if (band.name === 'flow') return [{ arm, area, items: () => cellItems(at, band) }];
      const items = (x0: number, x1: number) => {
        const near = [x0 - around, x1 + around].map((x) => timeAt(layout, box, x));
        return itemsIn({ ...at, near: near as [number, number] }, band);
      };
      return [{ arm, area, items, slop }];
    }),
  );
}

/** Return the mark of a life with the kind `early`: an old reader may look at the new file. */
function seenAs({ index }: At, life: Life, mark: Mark): Mark {
  return { ...mark, kind: kindAt(index, 'early'), id: life.bornId };
}

/**
 * Return a row for each inode. Arrow keys move along the enlarged inode; the pointer or the table selects another
 * inode.
 */
function weaveRows(at: At, band: Band): readonly Row[] {
  const { layout, box } = at;
  const { arm, hero, lives, rows } = box;
  const h = pitchIn(band, rows.length);
  const enlarged = box.bands.some(({ name }) => name === 'inode');
  return rows.map((ino, nth): Row => {
    const y = band.top + nth * h;
    const pointerOnly = enlarged || ino !== hero;
    const ofLife = (life: Life): Item[] =>
      statesOf(at, life, y, h).flatMap((shape) => {
        const item = { ...itemOf(shape), pointerOnly };
        const x1 = Math.min(shape.x1, xOf(layout, box, dangerEnd(life)));
        if (!life.early || x1 <= shape.x0) return [item];
        const early = { ...item.box, w: x1 - shape.x0 };
        const mark = seenAs(at, life, shape.mark);
        return [item, { mark, box: early, rank: 2, pointerOnly: true }];
      });
    return {
      ...{ arm, area: { x: layout.left, y, w: layout.right - layout.left, h } },
      items: (x0, x1) =>
        livesIn(lives, ino, timeAt(layout, box, x0), timeAt(layout, box, x1)).flatMap(ofLife),
    };
  });
}

/** Return the cells with the kinds that they are drawn as. A free inode that an old reader may look at is a shadow. */
function cellItems(at: At, band: Band): readonly Item[] {
  const { box, layout } = at;
  return flowCells(layout, box, band).flatMap(({ life, x, y, side }): Item[] => {
    const dark = box.now >= life.inactivated && box.now < life.shadowEnd;
    const shadow = dark ? shadowOf(at, life, 0, band.top, band.height) : null;
    const mark = shadow?.mark ?? stateNow(at, life);
    const room = { x: x - 1, y: y - 1, w: side + 2, h: side + 2 };
    return mark === null ? [] : [{ mark, box: room, pointerOnly: true }];
  });
}

function stateNow(at: At, life: Life): Mark | null {
  const { now } = at.box;
  const found = statesOf(at, life, 0, 20).find(({ mark }) => now >= mark.t0 && now < mark.t1);
  if (found === undefined) return null;
  return life.early && now < dangerEnd(life) ? seenAs(at, life, found.mark) : found.mark;
}

/** Return the first life of the enlarged inode in the window, if its band is shown. */
export function firstMark(index: RunIndex, layout: Layout): Mark | null {
  for (const box of layout.lanes) {
    if (box.hero === null || bandOf(box, 'alive') === undefined) continue;
    for (const life of box.lives.byIno.get(box.hero) ?? []) {
      const [shape] = statesOf({ index, layout, box }, life, 0, 20);
      if (shape !== undefined) return shape.mark;
    }
  }
  return null;
}

// Finds the positions of a mark: its place in a band, and the cell of its inode at the moment.

const bandsOf: Readonly<Record<string, readonly string[]>> = {
  running: ['thread'],
  runnable: ['thread'],
  wait_backlog: ['thread'],
  wait_other: ['thread'],
  wait_gp: ['thread'],
  gp: ['grace'],
  may_read: ['grace'],
  batch: ['queue', 'worker'],
  worker_wait: ['queue', 'worker'],
};

/** Return the band that shows a kind for a row. A row is a CPU or an inode, not only the enlarged inode. */
function bandOf(box: LaneBox, kind: string, row = box.hero): Band | undefined {
  const names = bandsOf[kind] ?? (row === box.hero ? ['inode', 'inodes'] : ['inodes', 'inode']);
  const bands = names.flatMap((name) => box.bands.filter((band) => band.name === name));
  return bands.find(({ cpu }) => cpu === row) ?? bands[0];
}

export function boxesOf({ kinds }: RunIndex, layout: Layout, mark: Mark): readonly Box[] {
  const box = layout.lanes.find(({ arm }) => arm === mark.arm);
  const kind = kinds[mark.kind]?.name;
  const band = box && kind && bandOf(box, kind, mark.row);
  if (!box || !band) return [];
  const x0 = Math.max(layout.left - 3, xOf(layout, box, mark.t0));
  const x1 = Math.min(layout.right + 3, xOf(layout, box, mark.t1));
  if (x1 < x0) return [];
  const row = band.name === 'inodes' ? box.rows.indexOf(mark.row) : -1;
  const pitch = pitchIn(band, box.rows.length);
  const high = row < 0 ? { y: band.top, h: band.height } : { y: band.top + row * pitch, h: pitch };
  return [{ x: x0, w: x1 - x0, ...high }];
}

/** Return the cell that a mark's inode has at the moment. */
export function cellOf({ kinds }: RunIndex, layout: Layout, mark: Mark): Cell | undefined {
  const box = layout.lanes.find(({ arm }) => arm === mark.arm);
  const band = box?.bands.find(({ name }) => name === 'flow');
  if (box === undefined || band === undefined) return undefined;
  if ((kinds[mark.kind]?.name ?? '') in bandsOf) return undefined;
  return flowCells(layout, box, band).find(({ life }) => life.ino === mark.row);
}
