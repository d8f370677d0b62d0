// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Draws the inodes at the moment, grouped by their state. Alive and free inodes are cells, queues are stacks. Cells
 * jump from group to group without animation.
 */

import { t } from '@page/base/lang/t.ts';
import { formatCount } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import { fitting, mix, type Pen } from '@page/views/paints.ts';
import { counted } from './describe.ts';
import { queueAt, type Scene } from './draw-bands.ts';
import { bar, cross, type Easel, fontOf, lookOf, say, widthOf } from './ink.ts';
import type { Band, LaneBox, Layout } from './layout.ts';
import {
  endangered,
  type Life,
  type Population,
  populationAt,
  type Tally,
  tallyOf,
} from './lives.ts';

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Stations {
  readonly alive: Place;
  readonly queue: Place;
  readonly free: Place;
  readonly again: Place;
  readonly title: number;
}

/** Return the places for the states of an inode, from left to right: alive, queued, free, used again. */
function stationsOf(band: Band, { margin, left: from, right, em }: Layout): Stations {
  const left = margin ? from : 14;
  const title = 17 * em;
  const arrow = 26 * em;
  const room = right - left - 3 * arrow;
  const shares = [0.27, 0.2, 0.27, 0.26];
  let x = left;
  const places = shares.map((share) => {
    const place = { x, y: band.top + title, w: room * share, h: band.height - title };
    x += place.w + arrow;
    return place;
  });
  return { alive: places[0]!, queue: places[1]!, free: places[2]!, again: places[3]!, title };
}

interface Cells {
  /** An inode is drawn as new for this time after it became alive or free, ns. */
  readonly fresh: number;
  readonly pitch: number;
}

/** An inode is drawn as new for this share of the window after it became alive or free. */
const glow = 0.02;

export function drawFlow(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const { layout, box } = scene;
  const { theme, em } = easel;
  const { left } = layout;
  const at = stationsOf(band, layout);
  const people = populationAt(box.lives, box.now);
  const tally = tallyOf(box.lane, box.lives, box.now);
  if (layout.margin) {
    say(pen, easel, t('where they are'), left - 12, band.top + 30 * em, 'right', theme.soft);
    say(pen, easel, t('at this moment'), left - 12, band.top + 45 * em, 'right', theme.faint);
  }
  const fresh = (layout.right - layout.left) * layout.nsPerPx * glow;
  const pitch = pitchOf(at.alive, box.lives.inos.length, em);
  drawAlive(pen, scene, at.alive, people, { fresh, pitch }, easel);
  drawQueues(pen, scene, at.queue, people, easel);
  drawFree(pen, scene, at.free, people, { fresh, pitch }, easel);
  drawAgain(pen, box, at.again, tally, easel);
  arrow(pen, at.alive, at.queue, easel);
  arrow(pen, at.queue, at.free, easel);
  arrow(pen, at.free, at.again, easel);
}

function title(pen: Pen, place: Place, words: string, count: string, easel: Easel): void {
  const y = place.y - 9 * easel.em;
  const room = place.w - widthOf(pen, easel, count, 600) - 8;
  // If a place is too narrow, show its first word, or only its count.
  const wordings = [words, words.split(/[,，]/)[0]!, words.split(' ')[0]!];
  const short = wordings.find((one) => widthOf(pen, easel, one) < room) ?? '';
  say(pen, easel, short, place.x, y, 'left', easel.theme.soft);
  say(pen, easel, count, place.x + place.w, y, 'right', easel.theme.ink, 600);
}

const now = ({ lane }: LaneBox, what: string, n: number) => figure('now', lane.arm, what, n);

const afterShadow = ({ arm }: LaneBox['lane'], { reused, early }: Tally) =>
  figure('far', arm, 'after the shadow', reused - early);

function frameOf(pen: Pen, place: Place, easel: Easel): void {
  pen.beginPath();
  pen.roundRect(place.x + 0.5, place.y + 0.5, place.w - 1, place.h - 1, 4);
  pen.fillStyle = mix(easel.theme.sunk, easel.theme.paper, 0.5);
  pen.fill();
  pen.strokeStyle = easel.theme.rule;
  pen.lineWidth = 1;
  pen.stroke();
}

/** Return the largest cell size at which `most` cells fit. Equal cells in all places make the places comparable. */
export function pitchOf(place: Place, most: number, em: number): number {
  const smallest = Math.round(9 * em);
  for (let pitch = Math.round(17 * em); pitch > smallest; pitch--) {
    if (Math.floor((place.w - 8) / pitch) * Math.floor((place.h - 6) / pitch) >= most) return pitch;
  }
  return smallest;
}

/**
 * Return the top left corners of a place's cells, row by row. If not all cells fit, the last two rows stay free
 * for words.
 */
function cornersIn(place: Place, n: number, pitch: number): { x: number; y: number }[] {
  const columns = Math.max(1, Math.floor((place.w - 8) / pitch));
  const rows = Math.max(1, Math.floor((place.h - 6) / pitch));
  const shown = n <= columns * rows ? n : Math.max(0, columns * (rows - 2));
  return Array.from({ length: shown }, (_, i) => ({
    x: place.x + 5 + (i % columns) * pitch,
    y: place.y + 4 + Math.floor(i / columns) * pitch,
  }));
}

/** Draw the cells of a place. If some cells do not fit, write their number below. */
function cells(
  pen: Pen,
  place: Place,
  lives: readonly Life[],
  pitch: number,
  easel: Easel,
  paint: (life: Life, x: number, y: number, side: number) => void,
): void {
  const corners = cornersIn(place, lives.length, pitch);
  corners.forEach(({ x, y }, i) => {
    paint(lives[i]!, x, y, pitch - 2);
  });
  if (corners.length === lives.length) return;
  const words = t('and {n} more', { n: formatCount(lives.length - corners.length) });
  const y = place.y + place.h - 11 * easel.em;
  say(pen, easel, words, place.x + 8, y, 'left', easel.theme.soft);
}

function drawAlive(
  pen: Pen,
  { box }: Scene,
  place: Place,
  people: Population,
  { fresh, pitch }: Cells,
  easel: Easel,
): void {
  const { theme } = easel;
  frameOf(pen, place, easel);
  title(pen, place, t('alive: each has a file'), now(box, 'alive', people.alive.length), easel);
  const calm = mix(theme.work, theme.paper, 0.75);
  cells(pen, place, people.alive, pitch, easel, (life, x, y, side) => {
    const danger = endangered(life, box.now);
    pen.fillStyle = danger
      ? mix(theme.hazard, theme.paper, 0.25)
      : box.now - life.born < fresh
        ? theme.ink
        : calm;
    pen.fillRect(x, y, side, side);
    if (danger) cross(pen, x + side / 2, y + side / 2, side / 2 - 0.5, theme.hazard, 1.5);
  });
}

function drawFree(
  pen: Pen,
  { box }: Scene,
  place: Place,
  people: Population,
  { fresh, pitch }: Cells,
  easel: Easel,
): void {
  const { theme, tiles } = easel;
  frameOf(pen, place, easel);
  title(pen, place, t('inactivated, free'), now(box, 'free', people.free.length), easel);
  const shadow = lookOf('shadow', theme, tiles);
  cells(pen, place, people.free, pitch, easel, (life, x, y, side) => {
    const inside = box.now < life.shadowEnd;
    pen.fillStyle = inside ? shadow.wide : theme.paper;
    pen.fillRect(x, y, side, side);
    pen.lineWidth = 1;
    const bright = box.now - life.inactivated < fresh;
    const edge = inside ? theme.mechanism : mix(theme.work, theme.paper, 0.5);
    pen.strokeStyle = bright ? theme.ink : edge;
    pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
  });
}

/** Draw a stack for each CPU, as high as the CPU's queue, and a line at the backlog limit. */
function drawQueues(pen: Pen, scene: Scene, place: Place, people: Population, easel: Easel): void {
  const { box } = scene;
  const { theme, em, tiles } = easel;
  frameOf(pen, place, easel);
  title(pen, place, t('queued and taken'), now(box, 'queued', people.queued.length), easel);
  const cpus = box.queues.cpus.length === 0 ? [0] : box.queues.cpus.map((q) => q.cpu);
  const pitch = place.w / cpus.length;
  const high = place.h - 8;
  const px = high / (box.limit * 1.12);
  const bottom = place.y + place.h - 3;
  cpus.forEach((cpu, i) => {
    const step = queueAt(box, cpu);
    const x0 = place.x + i * pitch + 8;
    const x1 = x0 + Math.min(pitch * 0.36, 70 * em);
    const hands = Math.max(0, step.hands) * px;
    const list = step.list * px;
    const rcu = step.rcu * px;
    // Inodes that the worker has taken are drawn next to the stack, because the limit does not count them.
    const half = (x1 - x0) * 0.66;
    if (list > 0) {
      pen.fillStyle = lookOf('listed', theme, tiles).narrow;
      pen.fillRect(x0, bottom - list, half, list);
    }
    if (rcu > 0) bar(pen, lookOf('rcu', theme, tiles), x0, bottom - list - rcu, x0 + half, rcu);
    if (hands > 0) {
      pen.fillStyle = lookOf('taken', theme, tiles).narrow;
      pen.fillRect(x0 + half + 4, bottom - hands, x1 - x0 - half - 4, hands);
    }
    pen.fillStyle = theme.soft;
    const y = Math.round(bottom - box.limit * px);
    for (let x = x0 - 3; x < x0 + half + 4; x += 6) pen.fillRect(x, y, 4, 1.5);
    const waits = now(box, `wait on CPU ${cpu}`, step.list + step.rcu);
    // Show zeros as well, because all figures must belong to the same moment. A figure that appears only when it
    // exceeds 0 would belong to a later moment.
    const words = [
      t('{waits} of {limit}', { waits, limit: figure('setup', box.lane.arm, 'limit', box.limit) }),
      t('{n} taken', { n: now(box, `taken on CPU ${cpu}`, step.hands) }),
    ];
    if (pitch > 120 * em) {
      words.forEach((line, k) => {
        const at = place.y + place.h / 2 + (k - (words.length - 1) / 2) * 15 * em;
        say(pen, easel, line, x1 + 10, at, 'left', k === 0 ? theme.ink : theme.soft);
      });
    }
  });
}

function drawAgain(pen: Pen, { lane }: LaneBox, place: Place, tally: Tally, easel: Easel): void {
  const { theme, em } = easel;
  const of = (name: keyof Tally) => counted(lane, tally, name);
  /** Two wordings for each kind of wait, the longer wording first. */
  const waits: [string, string][] = [];
  for (const name of ['gpWaits', 'throttles'] as const) {
    if (tally[name] === 0) continue;
    const n = of(name);
    const long =
      name === 'gpWaits' ? t('{n} waits for RCU', { n }) : t('{n} waits for the backlog', { n });
    waits.push([long, t('{n} waits', { n })]);
  }
  const line = 16 * em;
  let at = place.y + 8 * em;
  title(pen, place, t('used again so far'), of('reused'), easel);
  // A workload that removes files reuses no inode.
  if (tally.reused > 0) {
    const h = Math.min(22 * em, place.h * 0.3);
    const y = place.y + 4;
    pen.fillStyle = mix(theme.gain, theme.paper, 0.75);
    pen.fillRect(place.x, y, place.w, h);
    const share = tally.early / tally.reused;
    const look = lookOf('early', theme, easel.tiles);
    if (share > 0) bar(pen, look, place.x, y, place.x + place.w * share, h, 0);
    at = y + h + 13 * em;
    if (tally.early > 0) cross(pen, place.x + 6, at, 4.5 * em, theme.hazard, 2);
    const shift = tally.early > 0 ? 18 * em : 0;
    pen.font = fontOf(easel, 600);
    const inside = of('early');
    const wordings = [
      t('{inside} inside the shadow', { inside }),
      t('{inside} in shadow', { inside }),
      t('{inside} inside', { inside }),
      inside,
    ];
    const early = fitting(pen, wordings, place.w - shift);
    const colour = tally.early > 0 ? theme.hazard : theme.soft;
    say(pen, easel, early, place.x + shift, at, 'left', colour, 600);
    at += line;
    if (tally.early > 0) {
      const after = t('{n} after it', { n: afterShadow(lane, tally) });
      waits.unshift([after, after]);
    }
  }
  for (const words of waits) {
    if (at + 6 * em > place.y + place.h) break;
    pen.font = fontOf(easel, 400);
    say(pen, easel, fitting(pen, words, place.w), place.x, at, 'left', theme.soft);
    at += line;
  }
}

function arrow(pen: Pen, from: Place, to: Place, easel: Easel): void {
  const y = from.y + from.h / 2;
  const [x0, x1] = [from.x + from.w + 5, to.x - 5];
  pen.strokeStyle = easel.theme.faint;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x0, y);
  pen.lineTo(x1, y);
  pen.moveTo(x1 - 4, y - 4);
  pen.lineTo(x1, y);
  pen.lineTo(x1 - 4, y + 4);
  pen.stroke();
}

// Positions of the cells, to find the cell under the pointer and to draw a ring around it.

export interface Cell {
  readonly life: Life;
  /** Top left corner and edge length, px. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** Cells of inodes that are alive or free. The queues are stacks without cells. */
export function flowCells(layout: Layout, box: LaneBox, band: Band): readonly Cell[] {
  const { alive, free } = stationsOf(band, layout);
  const people = populationAt(box.lives, box.now);
  const pitch = pitchOf(alive, box.lives.inos.length, layout.em);
  const of = (place: Place, lives: readonly Life[]) =>
    cornersIn(place, lives.length, pitch).map(
      (corner, i): Cell => ({ ...corner, life: lives[i]!, side: pitch - 2 }),
    );
  return [...of(alive, people.alive), ...of(free, people.free)];
}
