// SPDX-License-Identifier: GPL-2.0-or-later
/** Parts of sentences: the names of kinds and lanes. */

import { isEnglish, locale, t } from '../base/lang/t.ts';
import { formatNs } from '../base/units.ts';
import type { PointFacts } from '../protocol/lesson.ts';
import { figure } from './figures.ts';
import type { KindFacts, LaneIndex, PointTable } from './types.ts';

/** The parts of a lesson that sentences need. */
export interface Titles {
  readonly arms: readonly { readonly name: string; readonly title: string }[];
  readonly operation: { readonly name: string; readonly plural: string };
  /** The noun for the thread of a row, such as "hog". */
  readonly thread: string;
}

export function armTitle(titles: Titles, lane: Pick<LaneIndex, 'arm'>): string {
  return titles.arms.find((arm) => arm.name === lane.arm)?.title ?? lane.arm;
}

/** Shorten a title: "armed: asked for, waits for the next tick" gives "armed". */
export function shortTitle(kind: KindFacts): string {
  return kind.title.split(/[:;]/)[0]!.trim();
}

/**
 * The title of a kind as a verb phrase for n threads. For 8 threads, "waits for an SRCU grace period" becomes "wait for
 * an SRCU grace period".
 */
export function verbFor(kind: KindFacts, n: number): string {
  const title = shortTitle(kind);
  if (title === 'running') return t('{n, plural, one {runs} other {run}}', { n });
  if (title === 'runnable')
    return n === 1 ? t('could run but has no CPU') : t('could run but have no CPU');
  return n === 1 ? title : title.replace(/^waits\b/, 'wait').replace(/^sleeps\b/, 'sleep');
}

/** The plural of a noun for threads, such as "workers" or "processes". */
export function severalOf(thread: string): string {
  return /(s|x|ch|sh)$/.test(thread) ? t('{one}es', { one: thread }) : t('{one}s', { one: thread });
}

/** Join words: "a", "a and b", "a, b and c". */
export function list(parts: readonly string[]): string {
  if (parts.length <= 1) return parts[0] ?? '';
  // In English, this page has no comma before "and".
  if (isEnglish()) return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
  return new Intl.ListFormat(locale()).format(parts);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Format a kind's share of the threads' time in the window (0 to 1) as "34 %". */
export function shareWords(lane: Pick<LaneIndex, 'arm'>, kind: KindFacts, share: number): string {
  const text = `${Math.round(share * 100)} %`;
  return figure('window', lane.arm, t('share {name}', { name: kind.name }), share, text);
}

// Describe the fields of a point in words.

const columns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** Format a point's fields: "visited 12, freed 0". */
export function fieldWords(points: PointTable, i: number, point: Pick<PointFacts, 'fields'>) {
  return point.fields
    .map((field, at) => `${field} ${fieldValue(field, points[columns[at]!]![i]!)}`)
    .join(', ');
}

/** Format a field's value. Times and sizes get units; other numbers stay unchanged, because they may be ids. */
export function fieldValue(field: string, value: number): string {
  if (field === 'ns' || field.endsWith('_ns')) return formatNs(value);
  return field.endsWith('bytes') ? `${value} B` : String(value);
}
