// SPDX-License-Identifier: GPL-2.0-or-later
/** Where everything of a toy stands: rows, labels that do not run into each other, the scale. Pure. */

import type { Guide, Item, Row } from './types.ts';

export interface LaidLabel {
  readonly item: Item;
  readonly text: string;
  /** Left end and base line of the text, px. */
  readonly x: number;
  readonly y: number;
  /** What it belongs to, px. */
  readonly anchor: number;
  /** It stands within its bar. */
  readonly inside: boolean;
}

export interface LaidRow {
  readonly row: Row;
  readonly top: number;
  readonly height: number;
  /** Middle of bars and dots. */
  readonly middle: number;
  readonly titleX: number;
  readonly titleY: number;
  /** Its words in lines that fit. */
  readonly verdict: readonly string[];
  readonly labels: readonly LaidLabel[];
}

export interface LaidToy {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly font: number;
  readonly rows: readonly LaidRow[];
  readonly guides: readonly {
    readonly x: number;
    readonly guide: Guide;
    readonly shown: boolean;
  }[];
  readonly axisY: number;
  readonly x: (t: number) => number;
  /** The moment at a place. */
  readonly t: (x: number) => number;
}

/** Of a bar or a dot with its grip, px at 13 px text. */
const bar = 22;
/** Narrower than this the titles stand above their rows. */
const narrow = 640;

/** Widths are estimated: the page draws text before it could measure it. */
export function textWidth(text: string, font: number, code: boolean): number {
  return text.length * font * (code ? 0.62 : 0.54);
}

export function layToy(
  rows: readonly Row[],
  guides: readonly Guide[],
  span: number,
  width: number,
  font: number,
): LaidToy {
  const scale = font / 13;
  const above = width < narrow * scale;
  const titles = Math.max(...rows.map((row) => textWidth(row.title, font * 1.08, false)), 0);
  const left = above ? 14 : Math.min(width * 0.26, titles + 22);
  const right = width - 16;
  const x = (t: number) => left + (t / span) * (right - left);
  const line = font * 1.45;
  let top = guides.some((guide) => guide.label) ? line + 4 : 6;
  const laid = rows.map((row) => {
    const placed = placeLabels(row, x, font, right);
    const titleHeight = above ? line : 0;
    const verdict = wrapped(row.verdict ?? '', right - left, font);
    const half = (bar * scale) / 2 + 3;
    const middle = top + titleHeight + placed.levels * line + half + 5;
    const height = middle + half + verdict.length * line + 10 * scale - top;
    const labels = placed.labels.map((label) => ({
      ...label,
      y: label.inside ? middle + font * 0.35 : middle - half - 4 - label.level * line - font * 0.15,
    }));
    const titleY = above ? top + font : middle + font * 0.35;
    const place = { titleX: above ? left : 0, titleY, verdict };
    const one: LaidRow = { row, top, height, middle, labels, ...place };
    top += height;
    return one;
  });
  let free = Number.NEGATIVE_INFINITY;
  const marks = guides.map((guide) => {
    const at = x(guide.at);
    const shown = Boolean(guide.label) && at > free;
    if (shown) free = at + textWidth(guide.label ?? '', font, false) + 8;
    return { x: at, guide, shown };
  });
  const t = (px: number) => ((px - left) / (right - left)) * span;
  const height = top + line + 10;
  return { width, height, left, right, font, rows: laid, guides: marks, axisY: top + 4, x, t };
}

/** Lines of at most `width` px. */
export function wrapped(text: string, width: number, font: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, font, false) <= width)
      lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

interface Flag extends Omit<LaidLabel, 'y'> {
  readonly level: number;
  readonly end: number;
}

/**
 * Labels are flags: the words right of a line that rises from their mark, in as few levels as keep them apart. Those at
 * the left mostly stand above those at the right, so that no line runs through words. What fits stands in its bar.
 */
function placeLabels(row: Row, x: (t: number) => number, font: number, right: number) {
  const flags: Flag[] = [];
  const inside: Flag[] = [];
  for (const item of row.items.toSorted((a, b) => startOf(b) - startOf(a))) {
    if (!item.label) continue;
    const code = item.kind === 'step' && item.code === true;
    const wide = textWidth(item.label, font, code);
    const from = x(startOf(item));
    const room = item.kind === 'stretch' ? x(item.to) - from : 0;
    const text = item.label;
    if (item.kind === 'stretch' && room > wide + (item.handle ? 44 + wide : 12)) {
      const at = item.handle ? from + 10 : from + (room - wide) / 2;
      inside.push({ item, text, x: at, anchor: from, inside: true, level: 0, end: at + wide });
      continue;
    }
    if (item.kind === 'stretch' && item.terse) continue;
    const anchor = item.kind === 'step' ? from : (from + x(item.to)) / 2;
    const at = Math.max(2, Math.min(anchor + 4, right + 14 - wide));
    const level = freeLevel(flags, at, at + wide);
    flags.push({ item, text, x: at, anchor, inside: false, level, end: at + wide });
  }
  const levels = 1 + Math.max(-1, ...flags.map((flag) => flag.level));
  return { labels: [...flags, ...inside], levels };
}

/** The lowest level on which words hit no others and no line that rises through it. */
function freeLevel(flags: readonly Flag[], from: number, to: number): number {
  for (let level = 0; ; level++) {
    const hit = flags.some((flag) =>
      flag.level === level
        ? from < flag.end + 6 && Math.min(flag.x, flag.anchor) < to + 6
        : flag.level > level && flag.anchor > from - 3 && flag.anchor < to + 3,
    );
    if (!hit) return level;
  }
}

function startOf(item: Item): number {
  return item.kind === 'step' ? item.at : item.from;
}
