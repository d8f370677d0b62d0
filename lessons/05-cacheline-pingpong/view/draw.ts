// SPDX-License-Identifier: GPL-2.0-or-later
/** Draws the lanes of the first act: the headline, the struct, the copies, and the order of the accesses. */

import { t } from '@page/base/lang/t.ts';
import { formatFigure } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import type { Mark } from '@page/derive/types.ts';
import type { Drawing } from '@page/views/contract.ts';
import { fitting, type Pen, type TileMaker } from '@page/views/paints.ts';
import { brushesFor, dashedBox } from './brush.ts';
import {
  far,
  noHot,
  noOrder,
  operationsFar,
  perStatWhole,
  perStatWords,
  stillRead,
  totalsOf,
} from './counted.ts';
import { drawCards, drawStruct } from './draw-cards.ts';
import { drawOrder, drawSpoken, type Easel, orderCaptions, write } from './easel.ts';
import type { LinesLayout } from './layout.ts';
import { placesOf } from './marks.ts';
import { laneNow } from './now.ts';

export function drawLines(
  pen: Pen,
  layout: LinesLayout,
  drawing: Drawing,
  pointed: Mark | null,
  tiles: TileMaker,
): void {
  const { size, theme, frame } = drawing;
  pen.clearRect(0, 0, size.width, size.height);
  const brushes = brushesFor(theme, tiles);
  const shade = (kind: string) => (frame.focus.size > 0 && !frame.focus.has(kind) ? 0.4 : 1);
  for (const laid of layout.lanes) {
    const lane = drawing.index.lanes.find((one) => one.arm === laid.arm);
    if (lane === undefined) continue;
    const shown = laneNow(drawing, lane);
    const easel: Easel = { pen, layout, laid, drawing, shown, brushes, shade };
    pen.save();
    pen.textBaseline = 'alphabetic';
    drawLane(easel);
    drawSpoken(easel);
    const marks = [frame.selection, pointed].filter((mark) => mark?.arm === laid.arm);
    for (const mark of marks)
      if (mark)
        for (const { x, y, w, h } of placesOf(easel, mark))
          dashedBox(pen, { x: x - 2, y: y - 2, w: w + 4, h: h + 4 }, theme.ink, 2, []);
    pen.restore();
  }
}

function drawLane(easel: Easel): void {
  const { shown, laid, layout, drawing, brushes, pen } = easel;
  const { theme } = drawing;
  drawStruct(easel);
  if (shown.model === null) {
    const words = noOrder(shown.lane, drawing.lesson) ?? '';
    write(easel, words, laid.left, laid.headlineY + layout.fontSize * 1.4);
    const text = Math.round(layout.fontSize * 1.35);
    countedWords(easel, laid.left, laid.headlineY + layout.fontSize * 1.4 + text);
    return;
  }
  headline(easel);
  drawCards(easel);
  gutterWords(easel);
  drawOrder(easel);
  orderCaptions(easel);
  if (!shown.beyond) return;
  const top = laid.lines[0]!.y - 6;
  pen.globalAlpha = 0.8;
  pen.fillStyle = brushes.fog;
  pen.fillRect(laid.left, top, laid.width, drawing.size.height - top);
  pen.globalAlpha = 1;
  write(easel, t('not known yet'), laid.left + laid.width / 2, top + 40, {
    align: 'center',
    colour: theme.soft,
    weight: 600,
  });
}

/**
 * Draw the headline: "4.9 transfers per stat in the whole run, modelled; so far 1.8 (7 in 4 stats)". A second line has
 * the counted accesses. Until the run is complete, the headline has only the figure so far.
 */
function headline(easel: Easel): void {
  const { laid, layout, drawing, shown, pen } = easel;
  const { theme } = drawing;
  const { fontSize } = layout;
  const big = Math.round(fontSize * 1.45);
  const text = Math.round(fontSize * 1.35);
  let x = laid.left;
  const y = laid.headlineY + big;
  const whole = shown.lane.ended;
  const wide = write(easel, whole ? perStatWhole(shown) : perStatWords(shown), x, y, {
    size: big,
    weight: 700,
    colour: theme.ink,
  });
  // A dashed line marks the figure as modelled.
  pen.strokeStyle = theme.wait;
  pen.lineWidth = 2;
  pen.setLineDash([4, 3]);
  pen.beginPath();
  pen.moveTo(x, y + 5);
  pen.lineTo(x + Math.max(wide, 10), y + 5);
  pen.stroke();
  pen.setLineDash([]);
  x += wide + 7;
  const { lesson } = drawing;
  const what = t('transfers per {name}', { name: lesson.operation.name });
  const per = t('per {name}', { name: lesson.operation.name });
  const alone = shown.model?.settings.cpus === 1;
  const now = {
    ...{ n: perStatWords(shown), transfers: far(shown, 'transfers') },
    ops: operationsFar(shown, lesson),
  };
  const right = laid.left + laid.width;
  x += writeFirst(
    easel,
    !whole
      ? [
          [what, t(' so far, modelled; the run is {stillRead}', { stillRead })],
          [what, t(' so far; the run is {stillRead}', { stillRead })],
          [what, t(' so far')],
          [per, t(' so far')],
        ]
      : [
          ...(alone ? [[what, t(' in the whole run, modelled with only one CPU')] as const] : []),
          [
            what,
            t(' in the whole run, modelled; so far {n} ({transfers} in {ops})', {
              ...{ n: now.n, transfers: now.transfers, ops: now.ops },
            }),
          ],
          [what, t(' in the whole run, modelled; so far {n}', { n: now.n })],
          [what, t(' in the whole run, modelled')],
          [what, t(', whole run')],
          [per, t(', whole run')],
          [per, ''],
        ],
    x,
    y,
    right,
  );
  const one = laid.width >= fontSize * 62;
  const [left, below] = one ? [x + 22, y] : [laid.left, y + text];
  countedWords(easel, left, below);
}

/** One version of a text: a figure with its noun, drawn bold, and the rest. */
type Said = readonly [strong: string, rest: string];

/**
 * Draw the first of the texts that ends to the left of `right`. If none does, draw the last text. Return the width of
 * the drawn text.
 */
function writeFirst(
  easel: Easel,
  all: readonly Said[],
  x: number,
  y: number,
  right: number,
): number {
  const { pen, layout, drawing } = easel;
  const { theme } = drawing;
  const widthOf = ([strong, rest]: Said) => {
    pen.font = `600 ${layout.fontSize}px ${theme.font}`;
    const wide = pen.measureText(strong).width;
    pen.font = `400 ${layout.fontSize}px ${theme.font}`;
    return wide + pen.measureText(rest).width;
  };
  const [strong, rest] = all.find((said) => x + widthOf(said) <= right) ?? all.at(-1)!;
  const wide = write(easel, strong, x, y, { weight: 600, colour: theme.ink });
  return wide + write(easel, rest, x + wide, y);
}

/**
 * Draw "4 reads + 2 read-modify-writes of the count's line per stat, counted", or the reason why these counts are not
 * known.
 */
function countedWords(easel: Easel, left: number, below: number): void {
  const { lesson } = easel.drawing;
  const { shown } = easel;
  const totals = totalsOf(shown.lane);
  if (totals === null) return;
  const hot = shown.struct?.hot;
  if (totals.hot === null || !hot) {
    write(easel, shown.struct === null ? '' : noHot(shown.lane, lesson), left, below);
    return;
  }
  const right = easel.laid.left + easel.laid.width;
  if (!shown.lane.ended) {
    const noun = t('accesses of the {line}', { line: hot.lineWords });
    const words: readonly Said[] = [
      [noun, t(' per {name}: {stillRead}', { name: lesson.operation.name, stillRead })],
      [noun, t(': {stillRead}', { stillRead })],
      ['', stillRead],
    ];
    writeFirst(easel, words, left, below, right);
    return;
  }
  const { reads, writes, rmws } = totals.hot;
  const of = (what: string, n: number) => figure('run', shown.lane.arm, what, n, formatFigure(n));
  const reading = t('{n} reads', { n: of('hot reads', reads) });
  const writing = writes > 0.004 ? [t('{n} writes', { n: of('hot writes', writes) })] : [];
  const n = of('hot rmws', rmws);
  const long = [reading, ...writing, t('{n} read-modify-writes', { n })].join(' + ');
  const short = [reading, ...writing, t('{n} rmw', { n })].join(' + ');
  const { name } = lesson.operation;
  const counted = t(' of the {line} per {name}, counted over the whole run', {
    ...{ line: hot.lineWords, name },
  });
  // Each version names the line, because a stat also reads other lines.
  const words: readonly Said[] = [
    [long, counted],
    [short, counted],
    [short, t(' of the {line} per {name}, in the whole run', { line: hot.lineWords, name })],
    [short, t(' of line {line} per {name}, in the whole run', { line: hot.line, name })],
    [short, t(' of line {line}, in the whole run', { line: hot.line })],
    [short, t(' of line {line}', { line: hot.line })],
  ];
  writeFirst(easel, words, left, below, right);
}

/** Draw the line numbers next to the cards. Draw the number of CPUs and the protocol above the line numbers. */
function gutterWords(easel: Easel): void {
  const { laid, layout, shown, pen, drawing } = easel;
  const { theme } = drawing;
  const lock = shown.struct?.hot?.line;
  pen.textBaseline = 'middle';
  for (const [line, slot] of (laid.cards[0]?.slots ?? []).entries()) {
    const colour = line === lock ? theme.mechanism : theme.soft;
    const weight = line === lock ? 650 : 500;
    const y = slot.y + slot.h / 2 + 1;
    write(easel, t('line {line}', { line }), laid.left, y, { colour, weight });
  }
  pen.textBaseline = 'alphabetic';
  const { settings } = shown.model!;
  const n = settings.cpus;
  const who = t('{n, plural, =1 {one CPU and its copies} other {# CPUs and their copies}}', { n });
  const room = layout.cardHead === 0 ? layout.fontSize * 1.2 : 0;
  const y = laid.captions.cards + layout.fontSize * 1.05 - room * 0.2;
  const left = laid.left + layout.gutter;
  const wordings = [
    t('{who} of the lines, {protocol}, modelled', { who, protocol: settings.protocol }),
    t('{who}, {protocol}, modelled', { who, protocol: settings.protocol }),
    t('{who}, modelled', { who }),
    t('{n, plural, =1 {one CPU} other {# CPUs}}, modelled', { n }),
    t('{n, plural, =1 {one CPU} other {# CPUs}}', { n }),
  ];
  pen.font = `400 ${layout.fontSize}px ${theme.font}`;
  write(easel, fitting(pen, wordings, laid.left + laid.width - left), left, y);
}
