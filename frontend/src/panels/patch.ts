// SPDX-License-Identifier: GPL-2.0-or-later
/** A patch: its files, hunks and lines, the direction in which it is shown, and the marks that a line caused. Pure. */

import { laneTime } from '../derive/align.ts';
import { laneOf, markOf, spansIn } from '../derive/query.ts';
import type { Frame, Mark, RunIndex } from '../derive/types.ts';
import type { Arm, Lesson, Lit } from '../protocol/lesson.ts';

export interface PatchLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

export interface Hunk {
  /** The function that contains the hunk, from its header; may be empty. */
  readonly where: string;
  readonly lines: readonly PatchLine[];
}

export interface PatchFile {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

/** Parse a unified diff, but skip mail headers and the signature after `-- `. */
export function parsePatch(text: string): readonly PatchFile[] {
  const files: { path: string; hunks: { where: string; lines: PatchLine[] }[] }[] = [];
  let left = 0;
  let right = 0;
  for (const line of text.split('\n')) {
    if (left > 0 || right > 0) {
      const sign = line.charAt(0) || ' ';
      if (sign === '+' || sign === '-' || sign === ' ') {
        if (sign !== '+') left -= 1;
        if (sign !== '-') right -= 1;
        files
          .at(-1)
          ?.hunks.at(-1)
          ?.lines.push({ sign, text: line.slice(1) });
      }
      continue;
    }
    const file = /^\+\+\+ (?:b\/)?(\S+)/.exec(line);
    if (file) {
      files.push({ path: file[1] ?? '', hunks: [] });
      continue;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (hunk && files.length > 0) {
      left = Number(hunk[1] ?? '1');
      right = Number(hunk[2] ?? '1');
      files.at(-1)?.hunks.push({ where: functionName(hunk[3] ?? ''), lines: [] });
    }
  }
  return files.map((f) => ({ ...f, ...tally(f.hunks) }));
}

/** Turns `static unsigned long walk(gfp_t m, ...` into `walk()`. */
function functionName(context: string): string {
  const call = /([A-Za-z_]\w*)\s*\(/.exec(context);
  return call ? `${call[1]}()` : context.trim();
}

/** Number of added and removed lines. */
export function tally(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((h) => h.lines);
  return {
    added: lines.filter((l) => l.sign === '+').length,
    removed: lines.filter((l) => l.sign === '-').length,
  };
}

// The two sides of a patch: the direction in which it is shown, and the kernel on which each line runs. Pure.
// The hunk with the longest comment explains the patch.

/** A line of a patch with its function, on the kernel that contains the line. */
export interface LitLine {
  readonly lit: Lit;
  readonly arm: string;
}

/** Whether an arm reverts a change. If it does, its patch is shown reversed, which is the historical order. */
export function readsBackwards(arm: Pick<Arm, 'role' | 'patch_texts'>): boolean {
  return arm.role === 'before' && arm.patch_texts.length > 0;
}

/** The kernel to which an arm's patch applies: an unpatched arm with the same base. Null if no such arm exists. */
export function otherEnd(lesson: Pick<Lesson, 'arms'>, arm: Arm): Arm | null {
  const same = (one: Arm) => one.base === arm.base && one.config === arm.config;
  return lesson.arms.find((one) => one.patch_texts.length === 0 && same(one)) ?? null;
}

/** Reverse a patch. Lines that did not change remain the same objects. */
export function turned(files: readonly PatchFile[]): readonly PatchFile[] {
  return files.map((file) => {
    const hunks = file.hunks.map((hunk) => ({ ...hunk, lines: turnedLines(hunk.lines) }));
    return { ...file, hunks, ...tally(hunks) };
  });
}

/** Removed lines come before added ones, as in any diff. */
function turnedLines(lines: readonly PatchLine[]): readonly PatchLine[] {
  const all: PatchLine[] = [];
  for (let i = 0; i < lines.length; ) {
    const changed: PatchLine[] = [];
    for (; i < lines.length && lines[i]!.sign !== ' '; i++) changed.push(lines[i]!);
    const to = (from: PatchLine['sign'], sign: PatchLine['sign']) =>
      changed.filter((line) => line.sign === from).map(({ text }) => ({ sign, text }));
    all.push(...to('+', '-'), ...to('-', '+'));
    if (i < lines.length) all.push(lines[i++]!);
  }
  return all;
}

/**
 * Lines to highlight. For each call and each kernel, this is the first line of the patch that contains the call. Added
 * lines run on one kernel, and removed lines run on the other kernel. Context lines run on both kernels, and are
 * highlighted for the kernel with the added lines.
 *
 * @param comes arm with the added lines
 * @param goes arm with the removed lines; null if the lesson has none
 */
export function litLines(
  lits: readonly Lit[],
  comes: string,
  goes: string | null,
  files: readonly PatchFile[],
): ReadonlyMap<PatchLine, LitLine> {
  const found = new Map<PatchLine, LitLine>();
  const lines = files.flatMap((file) => file.hunks).flatMap((hunk) => hunk.lines);
  const has = (lit: Lit, arm: string) => lit.arms.length === 0 || lit.arms.includes(arm);
  for (const lit of lits) {
    const ends = [
      { arm: comes, without: '-' },
      { arm: goes, without: '+' },
    ] as const;
    for (const { arm, without } of ends) {
      if (arm === null || !has(lit, arm)) continue;
      const line = lines.find((one) => one.sign !== without && one.text.includes(lit.match));
      if (line && !found.has(line)) found.set(line, { lit, arm });
    }
  }
  return found;
}

const commentLine = /^\s*(\/\*|\*)/;

/** Number of lines in the longest comment that a hunk adds or removes. */
export function commentLines({ lines }: Pick<Hunk, 'lines'>): number {
  let [most, now] = [0, 0];
  for (const [i, { sign, text }] of lines.entries()) {
    const goesOn = i > 0 && lines[i - 1]!.sign === sign;
    now = sign !== ' ' && commentLine.test(text) ? (goesOn ? now : 0) + 1 : 0;
    most = Math.max(most, now);
  }
  return most;
}

/** Minimum length of a comment that explains something, in lines. Shorter comments only repeat the code. */
const leastComment = 3;

/** Hunks that are open at first: those with a line that runs, and the hunk with the longest comment. */
export function hunksThatMatter(
  files: readonly PatchFile[],
  runs: (line: PatchLine) => boolean,
): ReadonlySet<Hunk> {
  const all = files.flatMap((file) => file.hunks);
  const open = new Set(all.filter((hunk) => hunk.lines.some(runs)));
  const most = Math.max(0, ...all.map(commentLines));
  const tells = most < leastComment ? undefined : all.find((hunk) => commentLines(hunk) === most);
  if (tells) open.add(tells);
  return open;
}

// Marks that a line of a patch caused: the calls of a kind of function on a lane, ordered by time. Pure.

/**
 * The first mark of the kind that begins after `now` (lane time), wrapping around to the start; null if there is none.
 */
export function nextMark(
  index: RunIndex | null,
  arm: string,
  kind: string,
  now: number,
): Mark | null {
  const lane = index?.lanes.find((one) => one.arm === arm);
  if (!index || !lane) return null;
  let first: Mark | null = null;
  let next: Mark | null = null;
  for (const span of spansIn(lane, 'function', 0, Number.POSITIVE_INFINITY)) {
    if (index.kinds[span.kind]?.name !== kind) continue;
    if (first === null || span.t0 < first.t0) first = markOf(arm, span);
    if (span.t0 > now && (next === null || span.t0 < next.t0)) next = markOf(arm, span);
  }
  return next ?? first;
}

/** Whether a function of this kind ever ran on the lane. */
export function ranOn(index: RunIndex | null, arm: string, kind: string): boolean {
  const lane = index?.lanes.find((one) => one.arm === arm);
  if (!index || !lane) return false;
  const number = index.kinds.findIndex(({ name }) => name === kind);
  return [lane.spans, lane.open].some((table) => {
    for (let i = 0; i < table.length; i++) if (table.kind[i] === number) return true;
    return false;
  });
}

/** The function that a mark belongs to: the innermost one of these kinds that contains the mark; null if none does. */
export function functionOf(
  index: RunIndex | null,
  mark: Mark | null,
  kinds: ReadonlySet<string>,
): { readonly arm: string; readonly kind: string } | null {
  if (index === null || mark?.table !== 'spans') return null;
  const { arm, row, t0 } = mark;
  const own = index.kinds[mark.kind]?.name;
  if (own !== undefined && kinds.has(own)) return { arm, kind: own };
  const lane = index.lanes.find((one) => one.arm === arm);
  if (!lane) return null;
  let best: { readonly t0: number; readonly kind: string } | null = null;
  for (const span of spansIn(lane, 'function', t0, t0 + 1)) {
    const kind = index.kinds[span.kind]?.name;
    if (span.row !== row || span.t0 > t0 || kind === undefined || !kinds.has(kind)) continue;
    if (best === null || span.t0 >= best.t0) best = { t0: span.t0, kind };
  }
  return best && { arm, kind: best.kind };
}

// Functions that are running on a lane at the moment, for highlighting patch lines. Pure.

/**
 * Number of an arm's rows that are inside each of these functions now. A row counts only for its innermost function:
 * while a task waits in synchronize_srcu(), the earlier lines of the caller are not running.
 */
export function openFunctions(
  index: RunIndex | null,
  frame: Pick<Frame, 'moment' | 'offset'>,
  arm: string,
  kinds: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const lane = index === null ? null : laneOf(index, arm);
  const found = new Map<string, number>();
  if (index === null || lane === null) return found;
  const now = laneTime(frame.offset, arm, frame.moment);
  const innermost = new Map<number, { readonly t0: number; readonly kind: string }>();
  for (const span of spansIn(lane, 'function', now, now + 1)) {
    const kind = index.kinds[span.kind]?.name;
    if (kind === undefined || !kinds.has(kind) || span.t0 > now) continue;
    const before = innermost.get(span.row);
    if (before === undefined || span.t0 >= before.t0) {
      innermost.set(span.row, { t0: span.t0, kind });
    }
  }
  for (const { kind } of innermost.values()) found.set(kind, (found.get(kind) ?? 0) + 1);
  return found;
}
