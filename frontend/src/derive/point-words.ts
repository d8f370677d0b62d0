// SPDX-License-Identifier: GPL-2.0-or-later
/** The fields of a point in words. */

import { formatNs } from '../base/units.ts';
import type { PointFacts } from '../protocol/lesson.ts';
import type { PointTable } from './types.ts';

const columns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** "visited 12, freed 0" */
export function fieldWords(points: PointTable, i: number, point: Pick<PointFacts, 'fields'>) {
  return point.fields
    .map((field, at) => `${field} ${fieldValue(field, points[columns[at]!]![i]!)}`)
    .join(', ');
}

/** Times and sizes with their units; other numbers as they are, since they may be names. */
export function fieldValue(field: string, value: number): string {
  if (field === 'ns' || field.endsWith('_ns')) return formatNs(value);
  return field.endsWith('bytes') ? `${value} B` : String(value);
}
