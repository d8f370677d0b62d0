// SPDX-License-Identifier: GPL-2.0-or-later
/** The part of a patch that a slide can hold: the hunks that matter, cut where there are too many lines. Pure. */

import type { Hunk, PatchFile, PatchLine } from '../../panels/patch.ts';

export interface ExcerptHunk {
  readonly path: string;
  readonly where: string;
  readonly lines: readonly PatchLine[];
  /** Lines of the hunk are missing above or below. */
  readonly cut: boolean;
}

export interface Excerpt {
  readonly hunks: readonly ExcerptHunk[];
  /** Changed lines of the patch that are not shown. */
  readonly left: number;
}

/** A hunk's heading takes the room of so many lines. */
const headLines = 2;
const leastLines = 4;

/**
 * At most so many lines of a patch: of the hunks with lines of `matters`, or where no line matters of those that add
 * most. They are shown in the patch's own order.
 */
export function excerptOf(
  files: readonly PatchFile[],
  matters: (line: PatchLine) => boolean,
  room: number,
): Excerpt {
  const whole = files.flatMap((file) => file.hunks.map((hunk) => ({ path: file.path, hunk })));
  const these = whole.filter(({ hunk }) => hunk.lines.some(matters));
  const all = these.length > 0 ? these : whole;
  const weight = ({ hunk }: { hunk: Hunk }) => hunk.lines.filter((l) => l.sign === '+').length;
  const chosen = new Map<Hunk, ExcerptHunk>();
  let left = room;
  for (const { path, hunk } of all.toSorted((a, b) => weight(b) - weight(a))) {
    const lines = cutTo(hunk.lines, matters, left - headLines);
    if (lines.length === 0) continue;
    left -= lines.length + headLines;
    chosen.set(hunk, { path, where: hunk.where, lines, cut: lines.length < hunk.lines.length });
  }
  const hunks = all.flatMap(({ hunk }) => chosen.get(hunk) ?? []);
  const changed = (lines: readonly PatchLine[]) => lines.filter((l) => l.sign !== ' ').length;
  const sum = (of: readonly { lines: readonly PatchLine[] }[]) =>
    of.reduce((n, { lines }) => n + changed(lines), 0);
  return { hunks, left: sum(whole.map(({ hunk }) => hunk)) - sum(hunks) };
}

/** So many lines of a hunk, around those that matter; without one around its first changed line. */
function cutTo(
  lines: readonly PatchLine[],
  matters: (line: PatchLine) => boolean,
  room: number,
): readonly PatchLine[] {
  if (lines.length <= room) return lines;
  if (room < leastLines) return [];
  const marks = lines.flatMap((line, i) => (matters(line) ? [i] : []));
  const within = (from: number) => marks.filter((i) => i >= from && i < from + room).length;
  // The view with most of them; of equal ones that around the last, which is the deepest call.
  const around = marks.length > 0 ? marks : [lines.findIndex((line) => line.sign !== ' ')];
  const views = around.map((i) =>
    Math.max(0, Math.min(i - Math.floor(room / 2), lines.length - room)),
  );
  const from = views.reduce((best, at) => (within(at) >= within(best) ? at : best), views[0] ?? 0);
  return lines.slice(from, from + room);
}

/** So many characters of a message stand beside a patch. */
const mostWords = 900;

/** The first paragraphs of a patch's message, as prose. */
export function messageOf(body: string): readonly string[] {
  let left = mostWords;
  const paragraphs: string[] = [];
  for (const paragraph of body.split(/\n\s*\n/)) {
    // Tables and commands keep their lines in the patch; trailers credit.
    if (paragraph === '' || /^\s|^[\w-]+: /.test(paragraph)) continue;
    left -= paragraph.length;
    if (left < 0 && paragraphs.length > 0) break;
    paragraphs.push(paragraph.replace(/\s+/g, ' ').trim());
  }
  return paragraphs;
}
