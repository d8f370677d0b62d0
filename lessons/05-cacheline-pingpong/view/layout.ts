// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Layout of the first act. Lanes are side by side. A lane has the struct in boxes of 64 bytes at the top, a card for
 * each CPU with its copies below, and the order of the accesses at the bottom. Cells have the same size in all lanes.
 */

import type { Size } from '@page/derive/types.ts';
import type { Box, LaidLane } from '@page/views/contract.ts';
import { lineBytes } from './fields.ts';

export interface LinesLane extends LaidLane {
  readonly headlineY: number;
  /** Upper left corner of each line's first byte. */
  readonly lines: readonly { readonly x: number; readonly y: number }[];
  readonly cards: readonly Card[];
  /** Box of the accesses in the merged order, with one row per CPU. */
  readonly order: Box;
  /** Box of the accesses in the order in which they were executed. */
  readonly executed: Box;
  readonly captions: { readonly cards: number; readonly order: number; readonly executed: number };
}

/** Box of a CPU with its copies. */
export interface Card extends Box {
  readonly cpu: number;
  /** Boxes of the CPU's copies, one for each line. */
  readonly slots: readonly Box[];
}

export interface LinesLayout {
  readonly lanes: readonly LinesLane[];
  readonly fontSize: number;
  readonly gutter: number;
  /** Number of bytes in a row. */
  readonly perRow: number;
  /** `cell`, `high`: width and height of a byte's cell. `pitch`: distance between rows. */
  readonly cell: number;
  readonly high: number;
  readonly pitch: number;
  /** Distance between lines. */
  readonly block: number;
  /** Whether copies are wide enough to show their fields. */
  readonly strips: boolean;
  /** Whether cards have a title. */
  readonly titled: boolean;
  /** Number of lines of text that a card has above its copies. */
  readonly cardHead: number;
}

export interface LayoutInput {
  readonly arms: readonly string[];
  readonly lines: number;
  readonly cpus: number;
  readonly size: Size;
  readonly headerHeight: number;
  readonly fontSize: number;
}

const between = 28;
const mostCell = 27;
/** Minimum width, in px, of a copy that shows its bytes. */
const leastStrip = 96;

/** Lay out the picture. A picture with little height has no order of execution, and its cards have one line of text. */
export function layoutLines(input: LayoutInput): LinesLayout {
  const usual = laidOut(input, false);
  const [lane] = usual.lanes;
  const low = lane === undefined ? 0 : lane.executed.y + lane.executed.h;
  return low <= input.size.height ? usual : laidOut(input, true);
}

/** Minimum height of the picture, px. At a smaller height, the bottom is cut off. */
export function leastHeight(input: LayoutInput): number {
  const { lanes } = laidOut({ ...input, size: { ...input.size, height: 0 } }, true);
  return Math.max(0, ...lanes.map(({ order }) => order.y + order.h + 4));
}

function laidOut(input: LayoutInput, tight: boolean): LinesLayout {
  const { arms, size, fontSize, headerHeight, cpus } = input;
  const n = Math.max(1, arms.length);
  const wide = (size.width - between * (n - 1)) / n;
  const lines = Math.max(1, input.lines);
  const gutter = Math.round(fontSize * 4.3);
  const perRow = rowBytes(wide - gutter, fontSize);
  const cell = Math.max(2, Math.min(mostCell, Math.floor((wide - gutter - 2) / perRow)));
  const text = Math.round(fontSize * 1.35);
  const rows = lineBytes / perRow;
  const [cardWide, cardGap] = cardWidth(wide, gutter, cpus);
  const strips = cardWide - fontSize * 2.2 >= leastStrip;
  const titled = cardWide >= fontSize * 3.4;
  const cardHead = titled ? (strips && !tight ? 2 : 1) : 0;
  const lineGap = tight ? 2 : 10;
  // Fixed heights: those of texts, and of the strips at the bottom.
  const headline = text * (wide < fontSize * 62 ? 2 : 1) + 10;
  const orderHigh = Math.max(34, Math.min(72, cpus * 14));
  const foot = tight ? text * 2 + orderHigh + 12 : text * 3 + orderHigh + 12 + 22;
  const cardWords = (titled ? cardHead : 1) * text + text + 14;
  const fixed = headerHeight + headline + foot + cardWords + lines * (rows * text + lineGap) + 20;
  // Heights that grow with the picture: those of the struct's cells and of the copies.
  const units = lines * rows + lines * 1.25;
  const room = (size.height - fixed) / units;
  const high = Math.round(Math.max(fontSize + 3, Math.min(fontSize * 2.3, cell * 2, room)));
  const slot = Math.round(Math.max(fontSize + 5, Math.min(fontSize * 2.6, room * 1.25)));
  const pitch = high + text;
  const block = rows * pitch + lineGap;
  const lanes = arms.map((arm, i): LinesLane => {
    const left = Math.round(i * (wide + between));
    const headlineY = headerHeight + 2;
    const first = headlineY + headline + text;
    const cardsTop = first + lines * block + (titled ? text : 2 * text) - 4;
    const cards = Array.from({ length: cpus }, (_, cpu): Card => {
      const x = left + gutter + cpu * (cardWide + cardGap);
      const head = cardsTop + cardHead * text + (cardHead > 0 ? 3 : 0);
      const label = strips ? Math.round(fontSize * 1.7) : 0;
      const inset = cardHead > 0 ? 5 : 0;
      const slots = Array.from({ length: lines }, (_, line) => ({
        x: x + inset + label,
        y: head + line * (slot + 4),
        w: cardWide - 2 * inset - label,
        h: slot,
      }));
      return {
        cpu,
        x,
        y: cardsTop,
        w: cardWide,
        h: head - cardsTop + lines * (slot + 4) + 2,
        slots,
      };
    });
    const cardsEnd = (cards[0]?.y ?? cardsTop) + (cards[0]?.h ?? 0);
    const orderY = cardsEnd + 8 + text;
    const width = perRow * cell;
    const order = { x: left + gutter, y: orderY, w: width, h: orderHigh };
    const executedY = orderY + orderHigh + text + 6;
    const executed = { x: left + gutter, y: executedY, w: width, h: tight ? 0 : 12 };
    return {
      arm,
      left,
      top: 0,
      width: wide,
      headlineY,
      lines: Array.from({ length: lines }, (_, line) => ({
        x: left + gutter,
        y: first + line * block,
      })),
      cards,
      order,
      executed,
      captions: {
        cards: cardsTop - (titled ? text : 2 * text),
        order: orderY - text,
        executed: executed.y - text,
      },
    };
  });
  const shape = { fontSize, gutter, perRow, cell, high, pitch, block };
  return { lanes, ...shape, strips, titled, cardHead };
}

/** Return the number of bytes in a row, so that each byte has room for a letter. */
function rowBytes(room: number, fontSize: number): number {
  for (const bytes of [64, 32]) if (room / bytes >= fontSize * 0.85) return bytes;
  return 16;
}

/** Return width and gap of the cards, px. Cards fill the lane's width, and many cards have a smaller gap. */
function cardWidth(wide: number, gutter: number, cpus: number): readonly [number, number] {
  const room = wide - gutter - 2;
  const gap = cpus <= 8 ? 14 : cpus <= 24 ? 2 : 1;
  return [Math.max(3, Math.min(520, (room - gap * (cpus - 1)) / cpus)), gap];
}

/** Height that the picture needs, px. */
export function heightFor(lanes: number, lines: number, fontSize: number): number {
  const rows = lanes > 1 ? 2 : 1;
  const text = Math.round(fontSize * 1.35);
  const struct = lines * (rows * (text + fontSize * 1.75) + 10);
  return Math.round(40 + text * 9 + struct + lines * fontSize * 2.3 + 120);
}

/** Boxes of the bytes [at, at + size) of a line, one box per row. */
export function byteBoxes(
  layout: LinesLayout,
  lane: LinesLane,
  at: number,
  size: number,
): readonly Box[] {
  const { perRow, cell, high, pitch } = layout;
  const boxes: Box[] = [];
  for (let from = at; from < at + size; ) {
    const line = lane.lines[Math.floor(from / lineBytes)];
    if (line === undefined) break;
    const inLine = from % lineBytes;
    const row = Math.floor(inLine / perRow);
    const to = Math.min(at + size, from - inLine + (row + 1) * perRow);
    const x = line.x + (inLine % perRow) * cell;
    boxes.push({ x, y: line.y + row * pitch, w: (to - from) * cell, h: high });
    from = to;
  }
  return boxes;
}

/** Box of the bytes [at, at + size) of a line, in a copy of that line. */
export function partOf({ x, y, w, h }: Box, at: number, size: number): Box {
  const from = at % lineBytes;
  const wide = Math.min(size, lineBytes - from);
  return { x: x + (from / lineBytes) * w, y, w: Math.max(1.5, (wide / lineBytes) * w), h };
}

export function inside({ x, y, w, h }: Box, px: number, py: number): boolean {
  return px >= x && px < x + w && py >= y && py < y + h;
}
