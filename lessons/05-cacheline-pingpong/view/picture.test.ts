// SPDX-License-Identifier: GPL-2.0-or-later
/** Where things stand, what is painted at which part of a step, and what is pointed at. */

import { darkTheme, lightTheme } from '@page/base/theme.ts';
import { ns } from '@page/base/units.ts';
import type { Frame, Mark, RunIndex } from '@page/derive/types.ts';
import type { ArrowKey, Drawing } from '@page/views/contract.ts';
import { step, under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { lineLesson, lineRun, lockRun, stepFrame } from '@test/fixtures/cachelines.ts';
import { recordingPen, type Stroke } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { brushesFor } from './brush.ts';
import { drawLines } from './draw.ts';
import { drawLock, rowsOf as lockRows } from './draw-lock.ts';
import { between } from './easel.ts';
import { runsOf } from './fields.ts';
import { view } from './index.tsx';
import { byteBoxes, inside, layoutLines } from './layout.ts';
import { layoutLock } from './lock.ts';
import { describeLines, rowsOf } from './marks.ts';
import { accessAt, happening, laneNow } from './now.ts';

const run = lineRun({ letters: 24, stats: 25 });
const size = { width: 1000, height: 640, dpr: 1 };

function drawing(frame: Frame, index: RunIndex = run): Drawing {
  return { index, frame, size, lesson: lineLesson, theme: lightTheme };
}

function laid(index: RunIndex = run, cpus = 2, width = 1000, height = size.height) {
  const arms = index.lanes.map((lane) => lane.arm);
  const box = { ...size, width, height };
  return layoutLines({ arms, lines: 3, cpus, size: box, headerHeight: 34, fontSize: 13 });
}

const one = lineRun({ letters: 24, stats: 25 }, ['stock']);

/** What is written above the struct, at the moment after so many accesses. */
function headline(index: RunIndex, width = 1000): string {
  const { pen, log: strokes } = recordingPen();
  const at = { ...drawing(stepFrame(400), index), size: { ...size, width } };
  drawLines(pen, laid(index, 2, width), at, null, namedTiles);
  return strokes.flatMap(({ what, text }) => (what === 'fillText' ? [text] : [])).join('|');
}

test('while a recording comes in the headline has the figure so far, and none of the whole run', () => {
  const coming = lineRun({ letters: 24, stats: 25, coming: true }, ['stock']);
  expect(headline(coming)).toMatch(/transfers per stat\| so far.*still being read/);
  expect(headline(coming)).not.toContain('whole run');
  expect(headline(one)).toMatch(/transfers per stat\| in the whole run/);
});

test('what was counted is said to be of the count’s line, however little room there is', () => {
  expect(headline(one, 1600)).toContain(
    "|4 reads + 2 read-modify-writes| of the count's line per stat",
  );
  expect(headline(run)).toContain("|4 reads + 2 rmw| of the count's line per stat");
  for (const width of [400, 600, 800])
    expect(headline(run, width)).toMatch(/\d rmw\| of (line 1|the count)/);
});

test('equal cells side by side; one lane has its lines in one row', () => {
  const both = laid();
  expect(both.lanes.map(({ lines }) => lines.map(({ y }) => y))[0]).toEqual(
    both.lanes[1]!.lines.map(({ y }) => y),
  );
  expect([both.perRow, laid(one).perRow]).toEqual([32, 64]);
  for (const cpus of [1, 2, 8, 20, 64]) {
    for (const width of [1000, 860, 1600]) {
      const layout = laid(run, cpus, width);
      const [left, right] = layout.lanes;
      const last = left!.cards.at(-1)!;
      expect(last.x + last.w).toBeLessThanOrEqual(right!.left);
      expect(right!.cards.at(-1)!.x + right!.cards.at(-1)!.w).toBeLessThanOrEqual(width + 1);
    }
  }
});

test('where it is low the order as executed goes, and nothing is cut off', () => {
  for (const cpus of [2, 20]) {
    const low = laid(run, cpus, 1176, 510);
    for (const { order, executed } of low.lanes) {
      expect(executed.h).toBe(0);
      expect(order.y + order.h).toBeLessThanOrEqual(510);
    }
  }
  expect(laid(run, 2, 1176, 800).lanes[0]?.executed.h).toBe(12);
});

test('the name of a field gets smaller where it would touch the next one', () => {
  const { pen, log: strokes } = recordingPen();
  const sizes = new Map<string, number>();
  const watched = new Proxy(pen, {
    get: (target, name) =>
      name === 'fillText'
        ? (text: string) => sizes.set(text, Number(/([\d.]+)px/.exec(target.font)?.[1]))
        : Reflect.get(target, name),
    set: (target, name, value) => Reflect.set(target, name, value),
  });
  // Four bytes in some 50 px: seven letters of 7 px are as wide.
  drawLines(watched, laid(one, 2, 870), drawing(stepFrame(400), one), null, namedTiles);
  expect(strokes.length).toBeGreaterThan(0);
  expect(sizes.get('d_flags')).toBeLessThan(13);
  expect(sizes.get('d_hash')).toBe(13);
});

test('a byte is found where it is drawn, on either row', () => {
  const layout = laid();
  const at = drawing(stepFrame(10));
  for (const [i, lane] of layout.lanes.entries()) {
    const shown = laneNow(at, run.lanes[i]!);
    const runs = runsOf(shown.struct!).flat();
    const rows = rowsOf({ layout, laid: lane, drawing: at, shown });
    for (const byte of [0, 31, 32, 63, 64, 88, 136, 191]) {
      const [{ x, y } = { x: 0, y: 0 }] = byteBoxes(layout, lane, byte, 1);
      const of = runs.find((one) => byte >= one.at && byte < one.at + one.size);
      expect(under(rows, x + 2, y + 2)?.row).toBe(of?.at);
    }
  }
  // Bytes over the end of a row are two boxes.
  expect(byteBoxes(layout, layout.lanes[0]!, 28, 8)).toHaveLength(2);
});

/** The first access from `from` on that does so. */
function first(what: string, from = 30, kind?: number) {
  const lane = one.lanes[0]!;
  const { model } = laneNow(drawing(stepFrame(0), one), lane);
  for (let k = from; k < model!.trace.log.length; k++) {
    const access = accessAt(lane, model!, k);
    if (happening(access) === what && (kind === undefined || access.kind === kind)) return access;
  }
  throw new Error(`no ${what}`);
}

function log(step: number, span = 84_000, index = one): Stroke[] {
  const { pen, log: strokes } = recordingPen();
  const start = ns(Math.max(0, Math.floor(step) - 40) * 1000);
  const at = drawing(stepFrame(step, { start, span }), index);
  drawLines(pen, laid(index), at, null, namedTiles);
  return strokes;
}

/** The line that travels: an edge in the colour of waiting. */
const ghost = (strokes: Stroke[]) =>
  strokes.find(({ what, fill, at }) =>
    what === 'strokeRect' || fill === '' ? at.length === 4 : false,
  );

test('a transfer is a function of the moment alone: from one CPU to the other', () => {
  const move = first('transfer');
  const places = [0.2, 0.4, 0.6].map((part) => {
    const { pen, log: strokes } = recordingPen();
    const edges: number[] = [];
    const watched = new Proxy(pen, {
      get: (target, name) =>
        name === 'strokeRect'
          ? (x: number) => {
              if (target.strokeStyle === lightTheme.wait && target.lineWidth >= 2.5) edges.push(x);
            }
          : Reflect.get(target, name),
      set: (target, name, value) => Reflect.set(target, name, value),
    });
    drawLines(watched, laid(one), drawing(stepFrame(move.k + part), one), null, namedTiles);
    expect(strokes.length).toBeGreaterThan(0);
    return edges[0]!;
  });
  const rightwards = move.cpu > move.from;
  expect(places[1]! > places[0]!).toBe(rightwards);
  expect(places[2]! > places[1]!).toBe(rightwards);
  expect(log(move.k + 0.4)).toEqual(log(move.k + 0.4));
  expect(ghost([])).toBeUndefined();
});

test('who writes takes the copies of the others away: crossed and empty', () => {
  const write = first('upgrade');
  const crossed = (step: number) =>
    log(step).filter(({ what, fill }) => what === 'stroke' && fill === lightTheme.hazard).length;
  expect(crossed(write.k + 0.5)).toBeGreaterThan(0);
  const shown = laneNow(drawing(stepFrame(write.k + 1), one), one.lanes[0]!);
  const mark = hitOn(shown.done, write.line, 1 - write.cpu);
  expect(kindOf(mark)).toBe('copy_i');
  expect(describeLines(shown, mark!, lineLesson)).toMatch(
    /its copy of line 1. I, invalid. Modelled/,
  );
});

function hitOn(step: number, line: number, cpu: number): Mark | null {
  const layout = laid(one);
  const at = drawing(stepFrame(step), one);
  const shown = laneNow(at, one.lanes[0]!);
  const { x, y } = layout.lanes[0]!.cards[cpu]!.slots[line]!;
  return under(rowsOf({ layout, laid: layout.lanes[0]!, drawing: at, shown }), x + 4, y + 4);
}

const kindOf = (mark: Mark | null) => mark && lineLesson.kinds[mark.kind]!.name;

test('between two steps nothing but the access under way moves', () => {
  expect([0, 0.08, 0.7, 1].map((part) => between(part, 0.08, 0.7))).toEqual([0, 0, 1, 1]);
  expect(between(0.39, 0.08, 0.7)).toBeCloseTo(0.5);
});

test('pointing: bytes, and steps above and below', () => {
  const layout = laid(one);
  const lane = layout.lanes[0]!;
  const move = first('transfer');
  const at = drawing(stepFrame(move.k + 10), one);
  const place = { layout, laid: lane, drawing: at, shown: laneNow(at, one.lanes[0]!) };
  const byte = (n: number) => {
    const [{ x, y } = { x: 0, y: 0 }] = byteBoxes(layout, lane, n, 1);
    return kindOf(under(rowsOf(place), x + 2, y + 2));
  };
  expect([88, 64, 56, 8, 100].map(byte)).toEqual([
    'count',
    'name_shared',
    'name',
    'chain',
    'plain',
  ]);
  const row = lane.order.h / 2;
  const x = lane.order.x + ((move.k + 0.5) / 84) * lane.order.w;
  const y = lane.order.y + move.cpu * row;
  expect(kindOf(under(rowsOf(place), x, y + 2))).toBe('transfer');
  expect(['read', 'rmw']).toContain(kindOf(under(rowsOf(place), x, y + row - 2)));
  expect(kindOf(under(rowsOf(place), lane.executed.x + 4, lane.executed.y + 4))).toBe('executed');
});

test('an arrow answers where it is drawn: under way, and as long as it fades', () => {
  const layout = laid(one);
  const lane = layout.lanes[0]!;
  const move = first('transfer');
  const slot = (cpu: number) => lane.cards[cpu]!.slots[move.line]!;
  const middle = (cpu: number) => slot(cpu).x + slot(cpu).w / 2;
  const y = slot(0).y + slot(0).h / 2;
  const hit = (step: number, x: number, dy = 0) => {
    const at = drawing(stepFrame(step), one);
    const place = { layout, laid: lane, drawing: at, shown: laneNow(at, one.lanes[0]!) };
    return under(rowsOf(place), x, y + dy);
  };
  const gap = (slot(0).x + slot(0).w + slot(1).x) / 2;
  for (const step of [move.k + 0.5, move.k + 1, move.k + 4]) {
    expect([kindOf(hit(step, gap)), hit(step, gap)?.row], `${step}`).toEqual(['transfer', move.k]);
    expect(hit(step, gap, 12)).toBeNull();
  }
  expect(kindOf(hit(move.k + 1, middle(move.cpu)))).toBe('transfer');
  expect(kindOf(hit(move.k + 1, middle(move.cpu), 10))).toMatch(/^copy_/);
  // The way of many accesses ago is not drawn.
  expect(hit(move.k - 0.5, gap)?.row).not.toBe(move.k);
  const shown = laneNow(drawing(stepFrame(move.k + 1), one), one.lanes[0]!);
  const words = describeLines(shown, hit(move.k + 1, gap)!, lineLesson);
  expect(words).toMatch(/Modelled: .*line 1 comes from CPU \d/);
});

test('a copy that has just been lost is pointed at itself, whatever way ends in it', () => {
  const layout = laid(one);
  const lane = layout.lanes[0]!;
  const write = first('upgrade');
  const at = drawing(stepFrame(write.k + 1), one);
  const place = { layout, laid: lane, drawing: at, shown: laneNow(at, one.lanes[0]!) };
  const { x, y, w, h } = lane.cards[1 - write.cpu]!.slots[write.line]!;
  expect(kindOf(under(rowsOf(place), x + w / 2, y + h / 2))).toBe('copy_i');
  const mine = lane.cards[write.cpu]!.slots[write.line]!;
  const mark = under(rowsOf(place), mine.x + mine.w / 2, mine.y + mine.h / 2);
  expect([kindOf(mark), mark?.row]).toEqual(['upgrade', write.k]);
  const { pen, log: plain } = recordingPen();
  drawLines(pen, layout, at, null, namedTiles);
  const { pen: other, log: selected } = recordingPen();
  drawLines(other, layout, { ...at, frame: { ...at.frame, selection: mark } }, null, namedTiles);
  const boxes = (strokes: Stroke[]) => strokes.filter(({ what }) => what === 'strokeRect').length;
  expect(boxes(selected)).toBe(boxes(plain) + 2);
});

test('letters of copies are written upon the ways that cross them, on a ground of their own', () => {
  const many = lineRun({ letters: 24, stats: 25 }, ['stock'], { model_cpus: 20 });
  const layout = laid(many, 20, 1600);
  const slots = layout.lanes[0]!.cards.flatMap((card) => card.slots);
  const { model } = laneNow(drawing(stepFrame(0), many), many.lanes[0]!);
  // Its way bends over the copies of the line above.
  const move = Array.from({ length: 2000 }, (_, i) =>
    accessAt(many.lanes[0]!, model!, 400 + i),
  ).find(
    (one) => one.line > 0 && happening(one) === 'transfer' && Math.abs(one.cpu - one.from) > 6,
  )!;
  const { pen, log: strokes } = recordingPen();
  drawLines(pen, layout, drawing(stepFrame(move.k + 1), many), null, namedTiles);
  const ways = strokes.flatMap(({ what, fill }, i) =>
    what === 'stroke' && fill === lightTheme.wait ? [i] : [],
  );
  const letters = strokes.flatMap(({ what, text, at: [x, y] }, i) =>
    what === 'fillText' && /^[MESI]$/.test(text!) && slots.some((slot) => inside(slot, x!, y!))
      ? [i]
      : [],
  );
  expect(ways.length).toBeGreaterThan(10);
  expect(letters.length).toBeGreaterThan(20);
  expect(letters[0]).toBeGreaterThan(ways.at(-1)!);
  const grounds = letters.filter((i) => {
    const { what, fill, alpha } = strokes[i - 1]!;
    return what === 'fillRect' && fill === lightTheme.paper && alpha === 1;
  });
  expect(grounds.length).toBeGreaterThan(1);
  expect(grounds.length).toBeLessThan(letters.length);
});

test('keys walk from the count through lines, copies and accesses to the next lane', () => {
  const at = drawing(stepFrame(120));
  const artist = view.artist(lineLesson);
  const layout = artist.layout(at, 34, 13);
  const next = (from: Mark | null, key: ArrowKey) => step(artist, layout, at, from, key) ?? from;
  let mark = next(null, 'ArrowDown');
  expect([mark?.arm, kindOf(mark)]).toEqual(['stock', 'count']);
  const way: string[] = [];
  for (let i = 0; i < 20 && mark !== null; i++) {
    mark = next(mark, 'ArrowDown');
    way.push(`${mark?.arm} ${kindOf(mark)}`);
  }
  expect(way).toContain('stock executed');
  expect(way).toContain('moved copy_s');
  expect(way.at(-1)).toBe('moved executed');
  const left = next(mark, 'ArrowLeft');
  expect(left!.row).toBe(mark!.row - 1);
});

test('states are distinguished by letter and edge, bytes by texture, in both themes', () => {
  for (const theme of [lightTheme, darkTheme]) {
    const { bytes, states } = brushesFor(theme, namedTiles);
    expect(new Set(Object.values(bytes).map(({ fill }) => fill)).size).toBe(5);
    expect(new Set(Object.values(states).map(({ fill }) => fill)).size).toBe(4);
  }
  const letters = log(100).filter(
    ({ what, text }) => what === 'fillText' && /^[MESI]$/.test(text!),
  );
  expect(letters).toHaveLength(6);
});

test('the letters of the live name are in the bytes', () => {
  const name = log(100).flatMap(({ what, text }) =>
    what === 'fillText' && /^[a-z]$/.test(text!) ? [text] : [],
  );
  expect(name.join('')).toBe('abcdefghijklmnopqrstuvwx');
});

test('sixty-four CPUs at full speed: every frame in a few milliseconds', () => {
  const big = lineRun({ letters: 24, stats: 50 }, ['stock', 'moved'], { model_cpus: 64 });
  const { pen } = recordingPen();
  const layout = laid(big, 64);
  drawLines(pen, layout, drawing(stepFrame(10, { span: 2e6 }), big), null, namedTiles);
  const began = process.cpuUsage(); // others may want this machine, too
  for (let i = 0; i < 10; i++) {
    const frame = stepFrame(1900 + i * 7.3, { span: 2e6 });
    drawLines(recordingPen().pen, layout, drawing(frame, big), null, namedTiles);
  }
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1000 / 10).toBeLessThan(100);
});

test('the lock path: columns by the way, none beyond the moment', () => {
  const index = lockRun();
  const layout = layoutLock(['moved'], { ...size, height: 520 }, 34, 13);
  const frame = stepFrame(1_500_000, { span: 3e9 });
  const at = drawing(frame, index);
  const { pen, log: strokes } = recordingPen();
  drawLock(pen, layout, at, null, namedTiles);
  const { share } = layout.lanes[0]!;
  // What the large figures cover is said before them, at any width.
  for (const width of [1000, 360, 300]) {
    const { pen: other, log: written } = recordingPen();
    const narrow = { ...at, size: { ...size, width, height: 520 } };
    drawLock(other, layoutLock(['moved'], narrow.size, 34, 13), narrow, null, namedTiles);
    const first = written.findIndex(({ text }) => text !== undefined);
    expect(written[first]?.text).toMatch(/last 250 ms:$/);
    for (const {
      text,
      at: [x, y],
    } of written.slice(first, first + 5))
      if (y === written[first]!.at[1]) expect(x! + text!.length * 7).toBeLessThanOrEqual(width);
  }
  const filled = strokes.filter(({ what, at: [, y] }) => what === 'fillRect' && y! >= share.y);
  expect(filled.every(({ at: [x] }) => x! <= share.x + share.w)).toBe(true);
  const mark = (part: number, high: number) =>
    under(lockRows(layout, at), share.x + share.w * part, share.y + share.h * high);
  expect(kindOf(mark(0.1, 0.5))).toBe('by_cas');
  expect(kindOf(mark(0.45, 0.1))).toBe('under_lock');
  expect(mark(0.9, 0.5)).toBeNull();
});
