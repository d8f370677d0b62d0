// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The two ends of a patch: which way it is read, which kernel each of its lines runs on, and which hunk tells why. Pure.
 */

import type { Arm, Lesson, Lit } from '../protocol/lesson.ts';
import { type Hunk, type PatchFile, type PatchLine, tally } from './patch.ts';

/** A line and the function that reaches it, on the kernel that has the line. */
export interface LitLine {
  readonly lit: Lit;
  readonly arm: string;
}

/** An arm that takes a change back is read the other way round: from before to after, as history made it. */
export function readsBackwards(arm: Pick<Arm, 'role' | 'patch_texts'>): boolean {
  return arm.role === 'before' && arm.patch_texts.length > 0;
}

/** The kernel that a patch applies to: the arm on the same base that has none; null: the lesson has no such arm. */
export function otherEnd(lesson: Pick<Lesson, 'arms'>, arm: Arm): Arm | null {
  const same = (one: Arm) => one.base === arm.base && one.config === arm.config;
  return lesson.arms.find((one) => one.patch_texts.length === 0 && same(one)) ?? null;
}

/** The patch that takes this one back. Lines are the same objects as before, but for those that change. */
export function turned(files: readonly PatchFile[]): readonly PatchFile[] {
  return files.map((file) => {
    const hunks = file.hunks.map((hunk) => ({ ...hunk, lines: turnedLines(hunk.lines) }));
    return { ...file, hunks, ...tally(hunks) };
  });
}

/** What goes comes first, as in any diff. */
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
 * Each call is lit at its first line, on either side: lines that come run on one end of the patch, lines that go on the
 * other, and the rest on both; those are lit for the kernel that comes.
 *
 * @param comes arm that has the lines with a plus
 * @param goes arm that has those with a minus; null: no arm of the lesson
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

/** Lines of the longest comment that a hunk adds or takes away. */
export function commentLines({ lines }: Pick<Hunk, 'lines'>): number {
  let [most, now] = [0, 0];
  for (const [i, { sign, text }] of lines.entries()) {
    const goesOn = i > 0 && lines[i - 1]!.sign === sign;
    now = sign !== ' ' && commentLine.test(text) ? (goesOn ? now : 0) + 1 : 0;
    most = Math.max(most, now);
  }
  return most;
}

/** A comment of fewer lines tells nothing that the code does not. */
const leastComment = 3;

/** Hunks that stand open: those with a line that runs, and the one whose comment says most. */
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
