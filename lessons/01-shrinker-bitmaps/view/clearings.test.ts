// SPDX-License-Identifier: GPL-2.0-or-later
/** How a bit is cleared: check, clear, barrier, second check, and set again if an object came. */

import { lightTheme } from '@page/base/theme.ts';
import type { Frame } from '@page/derive/types.ts';
import { under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { clearingAt, clearingsOf } from './clearings.ts';
import { drawWalls, layoutOf, rowsOf, wallArtist } from './draw.ts';
import { after, type HandPoint, runOf, setUp, us, visit, wallLesson } from './fixtures/wall.ts';
import { cellOf } from './marks.ts';

const grown: HandPoint = ['expanded', 2, 3, 4, 2];
const head: readonly HandPoint[] = [...setUp, grown, ['call'], visit(1, 0)];
/** Bit 0 of a container goes. At bit 1 an object comes between the first check and the second, beside one elsewhere. */
const points: readonly HandPoint[] = [
  ...head,
  ...[visit(11, 0), ['cleared', 11, 0] as const, visit(11, 0, -2, 1)],
  ...[visit(11, 1), ['set', 12, 1] as const, ['cleared', 11, 1] as const],
  ...[visit(11, 1, 3, 1), ['set', 11, 1] as const],
  ['call_end'],
];
const first = head.length;
const index = runOf({ after: points, before: [...head, visit(11, 0), ['call_end']] });
const lane = index.lanes.find(({ arm }) => arm === 'after')!;

function drawn(frame: Frame, show: string[] = ['clearing'], width = 1000) {
  const { pen, log } = recordingPen();
  const size = { width, height: 700, dpr: 1 };
  const drawing = { index, frame, size, lesson: wallLesson, theme: lightTheme, show };
  const layout = layoutOf(drawing, 0, 13);
  drawWalls(pen, layout, drawing, null, namedTiles);
  const laid = layout.lanes.find(({ arm }) => arm === 'after')!;
  const from = layout.clearing?.y ?? 1e9;
  const strip = log.filter(({ at }) => at[0]! >= laid.x && at[1]! >= from);
  return { drawing, layout, laid, strip, texts: log.flatMap(({ text }) => text ?? []) };
}

test('clearings come out of events, also with events of other CPUs between their steps', () => {
  const [one, two] = clearingsOf(lane);
  expect(one).toMatchObject({ id: 0, look: (first + 1) * us, clear: (first + 2) * us, set: null });
  expect(two).toMatchObject({ id: 1, again: (first + 7) * us, found: 3, set: (first + 8) * us });
});

test('a wide window shows the newest clearing that is over; a step on one of its events what is under way', () => {
  const at = (events: number, span: number) => clearingAt(lane, 0, events * us, span)?.id;
  expect(at(first, 1e6)).toBeUndefined();
  expect(at(first + 3.5, 1e6)).toBe(0);
  expect(at(first + 5.5, 1e6)).toBe(0);
  expect(at(first + 6, 1e6)).toBe(1);
  expect(at(first + 5.5, 1e5)).toBe(1);
  expect(clearingAt(lane, (first + 9) * us, (first + 9) * us, 1e6)).toBeNull();
});

test('the steps stand in the order of the code, and the barrier between clear and second check', () => {
  const { strip, texts } = drawn(after(first + 3));
  expect(texts).toContain('How a bit is cleared: container 1, shrinker 0');
  expect(texts).toContain('checks again: empty');
  expect(texts).toContain('1 µs to the clear, 1 µs to the second check');
  expect(texts).toContain('else set again');
  const boxes = strip.filter(({ what, fill }) => what === 'strokeRect' && fill !== lightTheme.ink);
  const [look, second] = boxes.map(({ at }) => at);
  const clear = strip.find(({ what }) => what === 'fill')!.at[0]!;
  const [bar] = strip.filter(({ what, at }) => what === 'fillRect' && at[2] === 1.5);
  expect(look![0]! + look![2]!).toBeLessThan(clear);
  expect(clear).toBeLessThan(bar!.at[0]!);
  expect(bar!.at[0]!).toBeLessThan(second![0]!);
  // The bit is full up to the clear, and empty from there.
  const full = strip.filter(
    ({ what, fill }) => what === 'fillRect' && fill === lightTheme.mechanism,
  );
  expect(full.map(({ at }) => Math.round(at[0]! + at[2]!))).toEqual([Math.round(clear)]);
});

test('what the second check finds sets the bit again', () => {
  const { strip, texts, laid, layout } = drawn(after(first + 8));
  expect(texts).toContain('checks again: found');
  expect(texts).toContain('set again');
  const full = strip.filter(
    ({ what, fill }) => what === 'fillRect' && fill === lightTheme.mechanism,
  );
  expect(full.length).toBe(2);
  const end = full[1]!.at[0]! + full[1]!.at[2]!;
  expect(end).toBeCloseTo(laid.x + layout.clearing!.width, 0);
});

test('what is to come is hollow', () => {
  const { strip, texts } = drawn(after(first + 1));
  expect(texts).toContain('checks again');
  expect(strip.find(({ what }) => what === 'fill')!.fill).toBe(lightTheme.paper);
});

test('the list walk clears nothing, and a step that does not ask has no steps', () => {
  const { texts } = drawn(after(first + 3));
  expect(texts.some((words) => words.startsWith('How a bit is cleared: never'))).toBe(true);
  expect(drawn(after(first + 3), []).texts.some((words) => /How a bit/.test(words))).toBe(false);
});

test('pointing at the steps finds their cell, whose tip tells them', () => {
  const { drawing, layout, laid } = drawn(after(first + 3));
  const { y } = layout.clearing!;
  const mark = under(rowsOf(layout, drawing), laid.x + 20, y + 40)!;
  expect([index.kinds[mark.kind]!.name, cellOf(mark).col]).toEqual(['visit_again', 0]);
  expect(wallArtist.describe(drawing, mark)).toContain(
    'The bit was cleared 1 µs after the first check. A barrier and a second check followed. The second check ended 1 µs after the clear and found nothing either.',
  );
});

test('on a telephone no words of one lane run into the next', () => {
  const { pen, log } = recordingPen();
  const { drawing, layout } = drawn(after(first + 3), ['clearing'], 350);
  drawWalls(pen, layout, drawing, null, namedTiles);
  const [left, right] = layout.lanes;
  const words = log.filter(({ text, at }) => text !== undefined && at[1]! > layout.words.y);
  expect(words.length).toBeGreaterThan(8);
  for (const { text, at } of words) {
    const end = at[0]! + pen.measureText(text!).width;
    expect(end, text).toBeLessThan(at[0]! < right!.left ? right!.x : left!.width + right!.x);
  }
});
