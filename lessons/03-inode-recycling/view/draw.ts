// SPDX-License-Identifier: GPL-2.0-or-later
/** Draws the picture at the frame's moment: lanes, bands, axis and playhead. */

import { t as tr } from '@page/base/lang/t.ts';
import { formatCount, momentMs } from '@page/base/units.ts';
import { axisFlag } from '@page/derive/align.ts';
import type { Frame, Mark } from '@page/derive/types.ts';
import { drawFlag, msTicks } from '@page/views/axis.ts';
import type { Drawing } from '@page/views/contract.ts';
import { outline } from '@page/views/items.ts';
import { mix, type Pen } from '@page/views/paints.ts';
import {
  drawGrace,
  drawHero,
  drawQueue,
  drawThread,
  drawTickBand,
  drawWeave,
  drawWorker,
  gridOf,
  type Scene,
} from './draw-bands.ts';
import { drawFlow } from './draw-flow.ts';
import { type Easel, fontOf, say } from './ink.ts';
import { type Band, type LaneBox, type Layout, processesOf, xOf } from './layout.ts';
import { boxesOf, cellOf } from './point.ts';

export function drawAll(
  pen: Pen,
  layout: Layout,
  drawing: Drawing,
  pointed: Mark | null,
  easel: Easel,
): void {
  const { theme } = easel;
  pen.globalAlpha = 1;
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, layout.width, layout.height);
  drawAxis(pen, layout, drawing.frame, easel);
  for (const box of layout.lanes) {
    const { index, lesson, show } = drawing;
    const scene: Scene = { index, layout, box, lesson, show };
    const late: (() => void)[] = [];
    for (const band of box.bands) drawBand(pen, scene, band, { ...easel, late });
    drawUnknown(pen, layout, box, { ...easel, late });
    veil(pen, layout, box, easel);
    for (const write of late) write();
    for (const band of box.bands) drawWords(pen, scene, band, easel);
  }
  const flag = axisFlag(drawing.index, drawing.frame, drawing.lesson.operation.name);
  if (flag !== null) {
    const { left, right, axisY: bottom } = layout;
    const x = left + (flag.t - drawing.frame.start) / layout.nsPerPx;
    drawFlag(pen, theme, { x, words: flag.words, left, right, top: 3, bottom }, 13 * easel.em);
  }
  drawPlayhead(pen, layout, drawing.frame, easel);
  const { index, frame } = drawing;
  const boxes = (mark: Mark) => boxesOf(index, layout, mark);
  outline(pen, { theme, frame }, pointed, boxes, { x: 2, y: 2, radius: 3 });
  for (const [mark, colour, width] of [
    [pointed, theme.soft, 1.5],
    [frame.selection, theme.ink, 2],
  ] as const) {
    const cell = mark && cellOf(index, layout, mark);
    if (!cell) continue;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.strokeRect(cell.x - 1.5, cell.y - 1.5, cell.side + 3, cell.side + 3);
  }
}

function drawBand(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  pen.save();
  pen.beginPath();
  const { layout } = scene;
  pen.rect(layout.left - 1, band.top - 2, layout.right - layout.left + 2, band.height + 4);
  if (band.name !== 'flow') pen.clip();
  switch (band.name) {
    case 'thread':
      drawThread(pen, scene, band, easel);
      break;
    case 'inode':
      drawHero(pen, scene, band, easel);
      break;
    case 'inodes':
      drawWeave(pen, scene, band, easel);
      break;
    case 'worker':
      drawWorker(pen, scene, band, easel);
      break;
    case 'queue':
      drawQueue(pen, scene, band, easel);
      break;
    case 'ticks':
      drawTickBand(pen, scene, band, easel);
      break;
    case 'grace':
      drawGrace(pen, scene, band, easel);
      break;
    case 'flow':
      break;
  }
  pen.restore();
}

const timeBands: ReadonlySet<string> = new Set([
  ...['thread', 'inode', 'inodes', 'worker', 'queue', 'ticks', 'grace'],
]);

/** Write a band's name to the left of the band. Draw the band `flow`, which has no time axis. */
function drawWords(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const { layout, box } = scene;
  if (band.name === 'flow') return drawFlow(pen, scene, band, easel);
  if (!layout.margin) return;
  const x = layout.left - 12;
  const line = 15 * easel.em;
  const lines = labelOf(scene, band);
  const y = band.top + (band.name === 'inode' ? band.height * 0.2 : band.height / 2);
  lines.forEach((words, i) => {
    const at = y + (i - (lines.length - 1) / 2) * line;
    say(pen, easel, words, x, at, 'right', i === 0 ? easel.theme.soft : easel.theme.faint);
  });
  if (band.name === 'inode' && box.hero !== null && band.height > 64 * easel.em) {
    const at = band.top + band.height * 0.72;
    say(pen, easel, tr('shadows'), x, at, 'right', easel.theme.faint);
  }
}

function labelOf({ box, index, layout }: Scene, band: Band): readonly string[] {
  const tall = band.height > 30 * layout.em;
  switch (band.name) {
    case 'thread': {
      const processes = processesOf(box.lane);
      return [processes.length > 1 ? tr('{n} processes', { n: processes.length }) : tr('program')];
    }
    case 'inode':
      return box.hero === null ? [tr('no inode yet')] : [tr('inode {row}', { row: box.hero })];
    case 'inodes': {
      const n = box.lives.inos.length;
      const rows = box.rows.filter((ino) => box.lives.byIno.has(ino)).length;
      if (rows >= n) return [tr('{n, plural, one {# inode} other {# inodes}}', { n })];
      return tall
        ? [
            tr('{n, plural, one {# inode} other {# inodes}}', { n: rows }),
            tr('of {n}', { n: formatCount(n) }),
          ]
        : [tr('{n, plural, one {# inode} other {# inodes}}', { n: rows })];
    }
    case 'worker':
      return [
        box.queues.cpus.length > 1 ? tr('worker, CPU {cpu}', { cpu: band.cpu }) : tr('worker'),
      ];
    case 'queue':
      return [tr('queue, CPU {cpu}', { cpu: band.cpu })];
    case 'ticks':
      return [
        gridOf(box.lives, index.tickNs, box.lane) === null ? tr('ticks: not known') : tr('ticks'),
      ];
    case 'grace':
      return [tr('grace periods')];
    default:
      return [];
  }
}

function drawAxis(pen: Pen, layout: Layout, frame: Frame, easel: Easel): void {
  const { left, right } = layout;
  const y = layout.axisY + 14 * easel.em;
  const window = { start: frame.start, span: frame.span, left, right };
  for (const { x, label } of msTicks(window, 84 * easel.em)) {
    for (const box of layout.lanes) {
      const first = box.bands.find((band) => timeBands.has(band.name));
      if (first === undefined) continue;
      pen.fillStyle = easel.theme.rule;
      pen.fillRect(Math.round(x), first.top - 4, 1, box.bottom - first.top + 4);
    }
    const unit = layout.margin ? '' : ' ms';
    const edge = x > right - 24 ? 'right' : x < left + 12 ? 'left' : 'center';
    say(pen, easel, label + unit, x, y, edge, easel.theme.faint);
  }
  if (layout.margin) say(pen, easel, 'ms', left - 12, y, 'right', easel.theme.soft);
}

/** Mark the time for which there are no data, and the times at which events were lost. */
function drawUnknown(pen: Pen, layout: Layout, box: LaneBox, easel: Easel): void {
  const { theme, tiles } = easel;
  const first = box.bands.find((band) => timeBands.has(band.name));
  if (first === undefined) return;
  const [top, height] = [first.top - 2, box.bottom - first.top + 4];
  const x = xOf(layout, box, box.lane.watermark);
  if (x < layout.right) {
    const from = Math.max(x, layout.left);
    pen.fillStyle = tiles('fog', { ground: theme.paper, ink: mix(theme.faint, theme.paper, 0.28) });
    pen.fillRect(from, top, layout.right - from, height);
    const words = box.lane.ended ? tr('the run is over') : tr('not known yet');
    const y = box.bottom - 8 * easel.em;
    // The lane's last line is otherwise empty. Draw the words late, so that the veil does not cover them.
    if (layout.right - from > 130 * easel.em)
      easel.late?.push(() =>
        say(pen, easel, words, (from + layout.right) / 2, y, 'center', theme.soft),
      );
  }
  for (const loss of box.lane.losses) {
    const [a, b] = [xOf(layout, box, loss.t0), xOf(layout, box, loss.t1)];
    if (b < layout.left || a > layout.right) continue;
    pen.fillStyle = tiles('dashes', { ground: theme.paper, ink: theme.hazard });
    pen.fillRect(a, top, Math.max(3, b - a), height);
    say(pen, easel, tr('events lost'), a + 5, top + 8 * easel.em, 'left', theme.hazard);
  }
}

/** Make everything after the playhead pale. */
function veil(pen: Pen, layout: Layout, box: LaneBox, easel: Easel): void {
  const first = box.bands.find((band) => timeBands.has(band.name));
  if (first === undefined || layout.revealX >= layout.right) return;
  pen.globalAlpha = 0.84;
  pen.fillStyle = easel.theme.paper;
  const width = layout.right - layout.revealX + 2;
  pen.fillRect(layout.revealX, first.top - 3, width, box.bottom - first.top + 6);
  pen.globalAlpha = 1;
}

function drawPlayhead(pen: Pen, layout: Layout, frame: Frame, easel: Easel): void {
  const x = Math.round(layout.playheadX);
  if (x < layout.left - 1 || x > layout.right + 1) return;
  const { theme, em } = easel;
  pen.fillStyle = theme.ink;
  for (const box of layout.lanes) {
    const first = box.bands.find((band) => timeBands.has(band.name));
    if (first !== undefined) pen.fillRect(x - 0.75, first.top - 3, 1.5, box.bottom - first.top + 6);
  }
  pen.fillRect(x - 0.75, layout.axisY - 4, 1.5, 8);
  const words = momentMs(frame.moment);
  pen.font = fontOf(easel, 500, 13, theme.mono);
  const w = pen.measureText(words).width + 18;
  const left = Math.max(layout.left - 8, Math.min(layout.right + 8 - w, x - w / 2));
  pen.beginPath();
  pen.roundRect(left, 3, w, 22 * em, 11 * em);
  pen.fill();
  pen.fillStyle = theme.paper;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillText(words, left + w / 2, 3 + 11.5 * em);
}
