// SPDX-License-Identifier: GPL-2.0-or-later
/** Conversion of changed texts to a unified diff, and of a diff back to texts. Pure. */

import { applyPatch, parsePatch, structuredPatch } from 'diff';
import { t } from '../../../base/lang/t.ts';
import type { SourceFile } from '../../../protocol/contract.gen.ts';

type File = Pick<SourceFile, 'name' | 'text'>;

/** Number of context lines around a change; the default of `git diff`. */
const contextLines = 3;
const whereChars = 80;

/** A diff, in the format of `git diff`, of the files whose text has changed; empty if no text has changed. */
export function makeDiff(files: readonly File[], texts: ReadonlyMap<string, string>): string {
  return files
    .map(({ name, text }) => {
      const now = texts.get(name) ?? text;
      return now === text ? '' : fileDiff(name, text, now);
    })
    .join('');
}

function fileDiff(name: string, before: string, after: string): string {
  const { hunks } = structuredPatch(name, name, before, after, '', '', { context: contextLines });
  const lines = before.split('\n');
  const text = hunks.flatMap((hunk) => {
    const at = `-${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)}`;
    const where = functionAbove(lines, hunk.oldStart - 1);
    return [`@@ ${at} @@${where && ` ${where}`}`, ...hunk.lines];
  });
  return `${[`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, ...text].join('\n')}\n`;
}

function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${start},${lines}`;
}

/** The line that git prints after a hunk's line numbers: the last line above the hunk that begins with a letter. */
function functionAbove(lines: readonly string[], before: number): string {
  for (let i = before - 1; i >= 0; i--) {
    const line = lines[i] ?? '';
    if (/^[A-Za-z_$]/.test(line)) return line.slice(0, whereChars).trimEnd();
  }
  return '';
}

export type Applied =
  | { readonly fits: true; readonly texts: ReadonlyMap<string, string> }
  /** Why the diff does not apply, as a sentence for the viewer. */
  | { readonly fits: false; readonly why: string };

/** Apply a diff, and return only the texts that it changes. */
export function applyDiff(files: readonly File[], diff: string): Applied {
  const texts = new Map<string, string>();
  let sections: ReturnType<typeof parsePatch>;
  try {
    sections = parsePatch(diff);
  } catch {
    return { fits: false, why: t('This diff could not be parsed completely.') };
  }
  for (const section of sections.filter(({ hunks }) => hunks.length > 0)) {
    const name = bare(section.newFileName) ?? bare(section.oldFileName) ?? '';
    const text = texts.get(name) ?? files.find((file) => file.name === name)?.text;
    if (text === undefined)
      return {
        fits: false,
        why: name
          ? t('The patch changes {name}, but this page does not show that file.', { name })
          : t('The patch changes a file that this page does not show.'),
      };
    const next = applyPatch(text, section);
    if (next === false)
      return {
        fits: false,
        why: t('The patch does not apply to this arm’s version of {name}.', { name }),
      };
    texts.set(name, next);
  }
  if (texts.size === 0) return { fits: false, why: t('The patch changes no line.') };
  return { fits: true, texts };
}

function bare(name: string | undefined): string | null {
  if (name === undefined || name === '/dev/null') return null;
  return name.replace(/^[ab]\//, '');
}

const hunkHead = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Extract the diff from a patch, a mail or a mailbox. The text around it is dropped, and each file gets the header
 * lines of `git diff`.
 *
 * @returns an empty string if there is no diff
 */
export function diffOf(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const found: string[] = [];
  let [left, right] = [0, 0];
  let inFile = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    if (left > 0 || right > 0) {
      const sign = line.charAt(0) || ' ';
      if (!' +-\\'.includes(sign)) return '';
      if (sign === ' ' || sign === '-') left -= 1;
      if (sign === ' ' || sign === '+') right -= 1;
      found.push(line || ' ');
    } else if (line.startsWith('--- ') && lines[i + 1]?.startsWith('+++ ')) {
      found.push(...fileHead(line, lines[i + 1] ?? ''));
      inFile = true;
      i += 1;
    } else if (inFile && hunkHead.test(line)) {
      const [, before = '1', after = '1'] = hunkHead.exec(line) ?? [];
      [left, right] = [Number(before), Number(after)];
      found.push(line);
    } else if (inFile && line.startsWith('\\ ')) found.push(line);
    else inFile = inFile && line === '';
  }
  const whole = left <= 0 && right <= 0 && found.some((line) => hunkHead.test(line));
  return whole ? `${found.join('\n')}\n` : '';
}

/** Header lines as git writes them, even if another tool used its own folders or added times after the names. */
function fileHead(minus: string, plus: string): string[] {
  const nameOf = (line: string) => (line.slice(4).split('\t')[0] ?? '').trim();
  const [from, to] = [nameOf(minus), nameOf(plus)];
  const rest = (name: string) => name.slice(name.indexOf('/') + 1);
  const foldered = from !== to && rest(from) === rest(to) && from.includes('/');
  const plain = (name: string) => (foldered ? rest(name) : name.replace(/^[ab]\//, ''));
  const none = '/dev/null';
  const name = plain(to === none ? from : to);
  const head = [`diff --git a/${name} b/${name}`];
  if (from === none) head.push('new file mode 100644');
  if (to === none) head.push('deleted file mode 100644');
  return [
    ...head,
    `--- ${from === none ? none : `a/${plain(from)}`}`,
    `+++ ${to === none ? none : `b/${plain(to)}`}`,
  ];
}

/** Numbers of added and removed lines. */
export function tallyOf(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.split('\n');
  return {
    added: lines.filter((line) => line.startsWith('+') && !line.startsWith('+++ ')).length,
    removed: lines.filter((line) => line.startsWith('-') && !line.startsWith('--- ')).length,
  };
}
