// SPDX-License-Identifier: GPL-2.0-or-later
/** What an address says of a state of the playback. Pure. */

import { unaligned } from '../derive/align.ts';
import type { PlaybackState } from '../playback/machine.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { type Align, type Place, writePlace } from './place.ts';

/** What a step has without a word of the address. */
export interface Usual {
  /** Guest seconds per second here. */
  readonly speed: number;
  readonly align: Align;
  readonly nth: number | undefined;
}

type Moment = Pick<
  PlaybackState,
  'mode' | 'moment' | 'start' | 'span' | 'speed' | 'alignment' | 'operation'
>;

/** The operation that a step aligns at; none where the one near the window is meant. */
export function nthOf(align: Align, scene: Pick<Scene, 'operation'>): number | undefined {
  return align === 'begin' ? scene.operation : undefined;
}

export function usualOf(scene: Pick<Scene, 'align' | 'operation'>, speed: number): Usual {
  return { speed, align: scene.align, nth: nthOf(scene.align, scene) };
}

/** The place without an alignment that the lesson does not have. */
export function alignable<P extends Place>(lesson: Lesson, place: P): P {
  return unaligned(lesson) === null ? place : { ...place, align: null };
}

/** What an address must say of a state of the playback; `run` is named where the moment stands still. */
export function placeAt(
  { mode, moment, start, span, speed, alignment, operation }: Moment,
  usual: Usual,
  run: string | null,
): Partial<Place> {
  const still = mode === 'paused';
  const counted = alignment === 'operation' || alignment === 'begin';
  const asUsual = alignment === usual.align && operation === usual.nth;
  return {
    ...(still ? { run } : {}),
    moment: still ? Math.round(moment) : null,
    window: still ? { start: Math.round(start), span: Math.round(span) } : null,
    speed: Math.abs(speed / usual.speed - 1) < 0.01 ? null : speed,
    align: alignment === usual.align ? null : alignment,
    nth: counted && still && !asUsual ? operation : null,
  };
}

/** The whole link to the moment that is shown, as if it stood still. */
export function linkTo(
  now: Moment,
  {
    place,
    usual,
    run,
    also,
  }: {
    readonly place: Place;
    readonly usual: Usual;
    readonly run: string | null;
    /** What the link states whatever the step would choose. */
    readonly also: Partial<Place>;
  },
): string {
  const to = {
    ...place,
    ...placeAt({ ...now, mode: 'paused' }, usual, run),
    speed: now.speed,
    align: now.alignment,
    ...also,
  };
  return `${location.origin}${location.pathname}${writePlace(to, location.search)}`;
}
