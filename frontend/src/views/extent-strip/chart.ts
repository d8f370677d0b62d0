// SPDX-License-Identifier: GPL-2.0-or-later
/** Entries freed against entries visited, a line for each lane and its name in a key above, up to the moment. */

import { scaleLinear } from 'd3-scale';
import { t } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { formatCount } from '../../base/units.ts';
import type { Frame, LaneIndex, RunIndex, Size } from '../../derive/types.ts';
import { armTitle } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { wholeTicks } from '../axis.ts';
import type { Pen } from '../paints.ts';
import { freed } from './block-replay.ts';
import { refillsOf } from './refill.ts';
import { factsOf, nowOf } from './scans.ts';

interface Given {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly lesson: Lesson;
  readonly theme: Theme;
  readonly size: Size;
}

const fontSize = 13;
/** Half of a plus, px. */
const plus = 4;

/** How the lines of lanes differ: later ones are wider, so that one below is seen between their dashes. */
const strokes: readonly { readonly width: number; readonly dash: readonly number[] }[] = [
  { width: 1.5, dash: [] },
  { width: 3, dash: [7, 5] },
  { width: 3, dash: [2, 4] },
  { width: 3, dash: [12, 4, 2, 4] },
];
const sample = 24;
const keyRow = Math.round(fontSize * 1.4);

/** Which stroke each lane has: that of its kernel in the lesson, so that it stays from step to step; else by its place. */
export function strokesOf(lanes: readonly LaneIndex[], { arms }: Pick<Lesson, 'arms'>): number[] {
  const own = lanes.map((lane) => arms.findIndex(({ name }) => name === lane.arm) % strokes.length);
  const clear = !own.includes(-1) && new Set(own).size === own.length;
  return clear ? own : lanes.map((_, i) => i % strokes.length);
}

/** A place in the key above the chart: its sample begins here. */
export interface KeyPlace {
  readonly x: number;
  readonly row: number;
}

/** Names of lanes side by side, with a sample of the line before each, in as many rows as they need. */
export function keyPlaces(widths: readonly number[], left: number, right: number): KeyPlace[] {
  let [x, row] = [left, 0];
  return widths.map((width) => {
    const wide = sample + 6 + width;
    if (x > left && x + wide > right) [x, row] = [left, row + 1];
    const place = { x, row };
    x += wide + 14;
    return place;
  });
}

export function drawChart(pen: Pen, given: Given): void {
  const { index, frame, lesson, theme, size } = given;
  pen.clearRect(0, 0, size.width, size.height);
  const lines = index.lanes.map((lane) => ({
    lane,
    facts: factsOf(lane),
    now: nowOf(lane, frame),
  }));
  const ways = strokesOf(index.lanes, lesson);
  const mostX = Math.max(1, (frame.start + frame.span) / 1000);
  const inView = lines.map(
    ({ facts }) => facts.upTo[freed][Math.min(facts.visits, Math.floor(mostX))]!,
  );
  const mostY = Math.max(1, ...inView);
  const left = 44;
  const right = size.width - 14;
  pen.save();
  pen.font = `${fontSize}px ${theme.font}`;
  const names = lines.map(({ lane }) => armTitle(lesson, lane));
  const places = keyPlaces(
    names.map((name) => pen.measureText(name).width),
    4,
    size.width - 4,
  );
  const top = 12 + ((places.at(-1)?.row ?? 0) + 1) * keyRow;
  const bottom = size.height - 40;
  const x = scaleLinear([0, mostX], [left, right]);
  const y = scaleLinear([0, mostY], [bottom, top]);

  pen.fillStyle = theme.soft;
  pen.strokeStyle = theme.rule;
  pen.lineWidth = 1;
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  pen.beginPath();
  for (const n of wholeTicks(y, fontSize * 2, 3)) {
    pen.moveTo(left, Math.round(y(n)) + 0.5);
    pen.lineTo(right, Math.round(y(n)) + 0.5);
    pen.fillText(formatCount(n), left - 6, y(n));
  }
  pen.stroke();
  pen.textAlign = 'center';
  for (const n of wholeTicks(x, fontSize * 5, 3)) pen.fillText(formatCount(n), x(n), bottom + 12);
  pen.fillText(t('entries visited'), (left + right) / 2, bottom + 29);
  for (const [i, { lane, facts, now }] of lines.entries()) {
    const high = (visits: number) => y(facts.upTo[freed][visits]!);
    pen.strokeStyle = theme.gain;
    dashed(pen, ways[i]!);
    pen.beginPath();
    pen.moveTo(x(0), y(0));
    const stride = Math.max(1, Math.floor(now.visits / 600));
    for (let n = 0; n < now.visits; n += stride) pen.lineTo(x(n), high(n));
    pen.lineTo(x(now.visits), high(now.visits));
    pen.stroke();
    pen.setLineDash([]);
    // Where lookups brought entries back.
    for (const visits of refillsOf(lane, now.visits)) {
      const [atX, atY] = [x(visits), high(visits)];
      pen.fillStyle = theme.ink;
      pen.fillRect(atX - plus, atY - 0.75, 2 * plus, 1.5);
      pen.fillRect(atX - 0.75, atY - plus, 1.5, 2 * plus);
    }
    pen.fillStyle = theme.gain;
    pen.beginPath();
    pen.arc(x(now.visits), high(now.visits), 3, 0, 7);
    pen.fill();
  }
  drawKey(pen, theme, names, places, ways);
  pen.restore();
}

function dashed(pen: Pen, way: number): void {
  const { width, dash } = strokes[way]!;
  pen.lineWidth = width;
  pen.setLineDash([...dash]);
}

function drawKey(
  pen: Pen,
  theme: Theme,
  names: readonly string[],
  places: readonly KeyPlace[],
  ways: readonly number[],
): void {
  pen.textAlign = 'left';
  for (const [i, { x, row }] of places.entries()) {
    const middle = row * keyRow + keyRow / 2;
    pen.strokeStyle = theme.gain;
    dashed(pen, ways[i]!);
    pen.beginPath();
    pen.moveTo(x, middle);
    pen.lineTo(x + sample, middle);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = theme.ink;
    pen.fillText(names[i]!, x + sample + 6, middle);
  }
}
