// SPDX-License-Identifier: GPL-2.0-or-later
/** Where a viewer is, as the address bar says it: lesson, step, moment, speed, arms, alignment, present. Pure. */

import type { Alignment } from '../derive/align.ts';

export type Align = Alignment;

export interface Place {
  /** Slug; null is the front page. */
  readonly lesson: string | null;
  /** Scene id; null is the first. */
  readonly step: string | null;
  /** Guest time in ns; null lets the scene choose. */
  readonly moment: number | null;
  /** Guest seconds per second here; null lets the scene choose. */
  readonly speed: number | null;
  /** Null lets the scene choose. */
  readonly arms: readonly string[] | null;
  /** Null lets the scene choose. */
  readonly align: Align | null;
  readonly present: boolean;
}

export const frontPage: Place = {
  lesson: null,
  step: null,
  moment: null,
  speed: null,
  arms: null,
  align: null,
  present: false,
};

export const alignments: readonly Align[] = ['time', 'operation', 'marker', 'begin'];

const name = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Read an address; whatever makes no sense is left out, never an error. */
export function readPlace(search: string): Place {
  const q = new URLSearchParams(search);
  const word = (key: string) => {
    const value = q.get(key);
    return value !== null && name.test(value) ? value : null;
  };
  const number = (key: string, min: number, max: number) => {
    const text = q.get(key);
    const value = text === null || text === '' ? Number.NaN : Number(text);
    return Number.isFinite(value) && value >= min && value <= max ? value : null;
  };
  const arms = (q.get('arms') ?? '').split(',').filter((a) => name.test(a));
  const align = q.get('align');
  const ms = number('at', -1e9, 1e9);
  return {
    lesson: word('lesson'),
    step: word('step'),
    moment: ms === null ? null : Math.round(ms * 1e6),
    speed: number('speed', 1e-6, 10),
    arms: arms.length > 0 ? [...new Set(arms)] : null,
    align: alignments.find((one) => one === align) ?? null,
    present: q.get('present') === '1',
  };
}

/** The address of a place; `keep` holds parameters that are not the place's own (fixture). */
export function writePlace(place: Place, keep = ''): string {
  const own = ['lesson', 'step', 'at', 'speed', 'arms', 'align', 'present'];
  const q = new URLSearchParams(keep);
  for (const key of own) q.delete(key);
  if (place.lesson !== null) q.set('lesson', place.lesson);
  if (place.step !== null) q.set('step', place.step);
  if (place.moment !== null) q.set('at', (place.moment / 1e6).toFixed(6).replace(/\.?0+$/, ''));
  if (place.speed !== null) q.set('speed', String(Number(place.speed.toPrecision(3))));
  if (place.arms !== null) q.set('arms', place.arms.join(','));
  if (place.align !== null) q.set('align', place.align);
  if (place.present) q.set('present', '1');
  const text = q.toString().replaceAll('%2C', ',');
  return text ? `?${text}` : '';
}
