// SPDX-License-Identifier: GPL-2.0-or-later
/** Paints the steps of one clearing on a line of time: looks, clear, barrier, and the bit below them. */

import { t as tr } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { mix, type Pen } from '../paints.ts';
import { type Clearing, clearingTimes, foundAgain } from './clearings.ts';
import type { Steps } from './layout.ts';

/** Left part for the first look, and where the second ends; shares of the width. */
const lookEnd = 0.22;
const againEnd = 0.72;

export class Strip {
  readonly pen: Pen;
  readonly theme: Theme;
  readonly fontSize: number;
  readonly line: number;
  readonly x: number;
  readonly width: number;

  readonly timed: boolean;

  constructor(pen: Pen, theme: Theme, { fontSize, line, width, timed }: Steps, x: number) {
    this.pen = pen;
    this.theme = theme;
    this.fontSize = fontSize;
    this.line = line;
    this.x = x;
    this.width = width;
    this.timed = timed;
  }

  text(words: string, dx: number, y: number, colour: string, weight = 400): void {
    const { pen, theme } = this;
    pen.font = `${weight} ${this.fontSize}px ${theme.font}`;
    pen.fillStyle = colour;
    pen.textAlign = 'left';
    pen.textBaseline = 'alphabetic';
    pen.fillText(words, this.x + dx, y);
  }

  /** Long words do not fit; the tip has them. */
  narrow(): boolean {
    return this.width < this.fontSize * 19;
  }

  title(words: string, y: number): void {
    this.text(words, 0, y, this.theme.ink, 600);
  }

  /** What is not done yet at t is drawn hollow. */
  steps(lane: LaneIndex, one: Clearing, t: number, y: number): void {
    const { pen, theme, line, width, fontSize } = this;
    const at = (when: number) =>
      width * (lookEnd + ((againEnd - lookEnd) * (when - one.look)) / (one.again - one.look));
    const clear = at(one.clear);
    const fence = clear + fontSize * 0.75;
    const second = fence + fontSize * 0.5;
    const [boxTop, boxHigh] = [y + line * 0.35, Math.round(line * 0.8)];
    const cleared = t >= one.clear;
    const over = t >= one.again;
    const found = foundAgain(one);

    const narrow = this.narrow();
    this.text(narrow ? tr('empty') : tr('looks: empty'), 0, y, theme.ink);
    const again = over
      ? found
        ? tr('looks again: found')
        : tr('looks again: empty')
      : tr('looks again');
    this.text(narrow ? tr('again') : again, second, y, over ? theme.ink : theme.soft);
    this.box(0, width * lookEnd, boxTop, boxHigh, theme.vain, true);
    this.box(second, width * againEnd, boxTop, boxHigh, theme.mechanism, over);
    this.diamond(clear, boxTop + boxHigh / 2, boxHigh * 0.42, cleared);
    pen.fillStyle = cleared ? theme.ink : theme.soft;
    const low = boxTop - line * 0.1;
    const tall = boxHigh + line * 0.75;
    pen.fillRect(this.x + fence - 2, low, 1.5, tall);
    pen.fillRect(this.x + fence + 1.5, low, 1.5, tall);

    // The bit itself, below: set until the clear.
    const bitTop = boxTop + boxHigh + line * 0.2;
    const bitHigh = Math.round(line * 0.32);
    this.band(0, clear, bitTop, bitHigh, true);
    this.band(clear, width, bitTop, bitHigh, !cleared);
    if (one.set !== null && t >= one.set) this.band(at(one.set), width, bitTop, bitHigh, true);
    const below = bitTop + bitHigh + fontSize + 3;
    this.text(narrow ? tr('bit') : tr('bit set'), 0, below, theme.mechanism);
    const short = narrow ? tr('clear') : tr('cleared, barrier');
    const left = Math.max(clear - fontSize * 0.5, width * lookEnd);
    this.text(short, left, below, theme.ink);
    const room = left + pen.measureText(short).width + fontSize;
    const fates = found
      ? [tr('found one: set again'), tr('set again')]
      : [tr('had it found one: set again'), tr('else set again')];
    const fate = fates.find((words) => width - pen.measureText(words).width > room);
    if (fate !== undefined) {
      const right = width - pen.measureText(fate).width;
      this.text(fate, right, below, found ? theme.mechanism : theme.soft);
    }
    if (!this.timed || narrow) return;
    const [first, last] = clearingTimes(lane.arm, one);
    const times = tr('{first} to the clear, {last} to the second look', { first, last });
    this.text(times, 0, below + line, theme.soft);
  }

  box(from: number, to: number, y: number, high: number, colour: string, done: boolean): void {
    const { pen, theme } = this;
    pen.fillStyle = done ? mix(colour, theme.paper, 0.3) : theme.paper;
    pen.fillRect(this.x + from, y, to - from, high);
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.setLineDash(done ? [] : [3, 3]);
    pen.strokeRect(this.x + from, y, to - from, high);
    pen.setLineDash([]);
  }

  band(from: number, to: number, y: number, high: number, set: boolean): void {
    const { pen, theme } = this;
    pen.fillStyle = set ? theme.mechanism : theme.paper;
    pen.fillRect(this.x + from, y, to - from, high);
    pen.strokeStyle = theme.mechanism;
    pen.lineWidth = 1;
    pen.strokeRect(this.x + from, y, to - from, high);
  }

  diamond(dx: number, y: number, r: number, done: boolean): void {
    const { pen, theme } = this;
    const x = this.x + dx;
    pen.beginPath();
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.lineTo(x, y - r);
    pen.fillStyle = done ? theme.mechanism : theme.paper;
    pen.fill();
    pen.strokeStyle = theme.mechanism;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}
