// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences of the server name kernels as files do; the page names them as people do. Pure. */

import type { Lesson } from '../protocol/lesson.ts';

export function titleOf(lesson: Pick<Lesson, 'arms'>, arm: string): string {
  return lesson.arms.find((one) => one.name === arm)?.title ?? arm;
}

/**
 * A verdict or a warning with titles in place of names. A name that is a plain word as well, such as `before`, is one
 * only where it is compared.
 */
export function inTitles(lesson: Pick<Lesson, 'arms'>, sentence: string): string {
  const names = lesson.arms.map((arm) => arm.name).sort((a, b) => b.length - a.length);
  if (names.length === 0) return sentence;
  const any = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const name = new RegExp(`(?<![\\w-])(${any})(?![\\w-])`, 'g');
  return sentence.replaceAll(name, (found: string, _name: string, at: number) => {
    const [before, after] = [sentence.slice(0, at), sentence.slice(at + found.length)];
    const compared = /against $/.test(before) || /^ ([-+]?\d|against )/.test(after);
    return /[-\d]/.test(found) || compared ? titleOf(lesson, found) : found;
  });
}
