// SPDX-License-Identifier: GPL-2.0-or-later
/** Entries freed against entries visited, a line for each lane with its name at the end, up to the moment. */

import { scaleLinear } from 'd3-scale';
import type { Theme } from '../../base/theme.ts';
import { formatCount } from '../../base/units.ts';
import type { Frame, RunIndex, Size } from '../../derive/types.ts';
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

/** Places of text that must not cover each other: from the top down, at least `gap` apart. */
export function spread(wanted: readonly number[], gap: number, lowest: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[b]! - wanted[a]!);
  const places = [...wanted];
  let limit = lowest;
  for (const i of order) {
    places[i] = Math.min(wanted[i]!, limit);
    limit = places[i] - gap;
  }
  return places;
}

export function drawChart(pen: Pen, given: Given): void {
  const { index, frame, lesson, theme, size } = given;
  pen.clearRect(0, 0, size.width, size.height);
  const lines = index.lanes.map((lane) => ({
    lane,
    facts: factsOf(lane),
    now: nowOf(lane, frame),
  }));
  const mostX = Math.max(1, (frame.start + frame.span) / 1000);
  const inView = lines.map(
    ({ facts }) => facts.upTo[freed][Math.min(facts.visits, Math.floor(mostX))]!,
  );
  const mostY = Math.max(1, ...inView);
  const left = 44;
  const right = size.width - 14;
  const top = 12;
  const bottom = size.height - 40;
  const x = scaleLinear([0, mostX], [left, right]);
  const y = scaleLinear([0, mostY], [bottom, top]);

  pen.save();
  pen.font = `${fontSize}px ${theme.font}`;
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
  pen.fillText('entries visited', (left + right) / 2, bottom + 29);
  const ends = lines.map(({ facts, now }) => y(facts.upTo[freed][now.visits]!));
  // Above the lines' ends.
  const words = spread(
    ends.map((end) => end - fontSize * 0.9),
    fontSize * 1.4,
    bottom - fontSize * 0.9,
  );
  const names: { readonly text: string; readonly x: number; readonly y: number }[] = [];
  for (const [i, { lane, facts, now }] of lines.entries()) {
    pen.strokeStyle = theme.gain;
    pen.fillStyle = theme.gain;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x(0), y(0));
    const stride = Math.max(1, Math.floor(now.visits / 600));
    for (let n = 0; n < now.visits; n += stride) pen.lineTo(x(n), y(facts.upTo[freed][n]!));
    pen.lineTo(x(now.visits), ends[i]!);
    pen.stroke();
    // Where lookups brought entries back.
    for (const visits of refillsOf(lane, now.visits)) {
      const [at, high] = [x(visits), y(facts.upTo[freed][visits]!)];
      pen.fillStyle = theme.ink;
      pen.fillRect(at - plus, high - 0.75, 2 * plus, 1.5);
      pen.fillRect(at - 0.75, high - plus, 1.5, 2 * plus);
    }
    pen.fillStyle = theme.gain;
    pen.beginPath();
    pen.arc(x(now.visits), ends[i]!, 3, 0, 7);
    pen.fill();
    names.push({ text: armTitle(lesson, lane), x: x(now.visits), y: words[i]! });
  }
  for (const { text, x: end, y: at } of names) {
    const width = pen.measureText(text).width;
    const before = end - width - 12 > left + 4;
    const from = before ? end - width - 10 : end + 10;
    pen.globalAlpha = 0.85;
    pen.fillStyle = theme.paper;
    pen.fillRect(from - 3, at - fontSize * 0.7, width + 6, fontSize * 1.4);
    pen.globalAlpha = 1;
    pen.fillStyle = theme.ink;
    pen.textAlign = 'left';
    pen.fillText(text, from, at);
  }
  pen.restore();
}
