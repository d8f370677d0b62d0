// SPDX-License-Identifier: GPL-2.0-or-later
/** What a driver sends of a page, and what a follower makes of it. Pure. */

import { nthOf } from '../navigation/navigation.ts';
import { frontPage, type Place, readPlace, writePlace } from '../navigation/place.ts';
import type { PlaybackState } from '../playback/machine.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { ClassPlace } from './class-state.ts';
import type { DrivenPlace } from './driving.ts';

/** The server takes no longer address. */
const mostChars = 1024;

/** What a page shows, but for its moment. */
export interface Scenery {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  /** The name of the run on show; null: there is none to name. */
  readonly run: string | null;
}

type Moving = Pick<
  PlaybackState,
  'mode' | 'moment' | 'start' | 'span' | 'speed' | 'direction' | 'alignment' | 'operation'
>;

/** The place of a page without moment, window and what each page chooses for itself. */
export function sceneryPlace({ lesson, scene, arms, place, run }: Scenery): Place {
  const { beside, knobs, clock, workload, panes, side, patch, hunk } = place;
  return {
    ...frontPage,
    ...{ lesson: lesson.slug, step: scene.id, run, beside, arms },
    ...{ knobs, clock, workload, panes, side, patch, hunk },
  };
}

/** @param now the playback; null: there is no moment to share, the stage is covered or empty */
export function drivenOf(scenery: Scenery, now: Moving | null): DrivenPlace {
  const { lesson, scene } = scenery;
  const of = { lesson: lesson.slug, step: scene.id };
  const there = sceneryPlace(scenery);
  if (now === null) return { ...of, place: fitting(there), moment_ns: null, mode: 'scope' };
  const { mode, direction, speed, alignment, operation } = now;
  const counted = alignment === 'operation' || alignment === 'begin';
  const place = fitting({
    ...there,
    moment: Math.round(now.moment),
    window: { start: Math.round(now.start), span: Math.round(now.span) },
    align: alignment,
    nth: counted ? operation : null,
  });
  return { ...of, place, moment_ns: now.moment, mode, direction, speed };
}

function fitting(place: Place): string {
  const whole = writePlace(place);
  return whole.length <= mostChars ? whole : writePlace({ ...place, knobs: null, arms: null });
}

/** The place that a follower goes to; how he looks at it stays his own. */
export function requestedOf(message: ClassPlace, own: Place): Place {
  const { present, slide, embed } = own;
  const read = readPlace(message.place);
  const step = read.step ?? (message.step || null);
  const shell = read.beside === null ? { present, slide, embed } : {};
  return { ...read, lesson: message.lesson, step, ...shell };
}

/** Whether a follower sees what the driver sees, but for the moment. */
export function sameScenery(wanted: Place, own: Place): boolean {
  return sceneryText(wanted, own) === sceneryText(own, own);
}

/** Text of a place without its moment; a run or arms that it leaves open are those of `own`. */
export function sceneryText(place: Place, own: Place): string {
  return writePlace({
    ...place,
    run: place.run ?? own.run,
    arms: place.arms ?? own.arms,
    ...{ moment: null, window: null, speed: null, align: null, nth: null },
    ...{ present: null, slide: null, embed: false },
  });
}

/** How the playback of a follower is to stand. */
export interface Target {
  readonly align: PlaybackState['alignment'];
  readonly nth: number | undefined;
  readonly speed: number | null;
  /** Null: where the step looks. */
  readonly look: { readonly start: number; readonly span: number; readonly moment: number } | null;
  readonly mode: ClassPlace['mode'];
  readonly direction: 1 | -1;
}

/**
 * @param lateMs since the message came to this page
 * @param end of the run, frame time in ns
 */
export function targetOf(message: ClassPlace, scene: Scene, lateMs: number, end: number): Target {
  const { window, align: by, nth } = readPlace(message.place);
  const { mode, speed, moment_ns } = message;
  const direction = message.direction < 0 ? -1 : 1;
  const align = by ?? scene.align;
  const look =
    moment_ns === null || window === null
      ? null
      : { ...window, moment: movedOn(message, lateMs, mode === 'scope' ? window : null, end) };
  return { align, nth: nth ?? nthOf(align, scene), speed, look, mode, direction };
}

/** Where the moment of the driver is now, if he has gone on as he was going. */
function movedOn(
  { moment_ns, mode, direction, speed, age_s }: ClassPlace,
  lateMs: number,
  sweep: { readonly start: number; readonly span: number } | null,
  end: number,
): number {
  const moment = moment_ns ?? 0;
  if (mode === 'paused' || speed === null) return moment;
  const went = (age_s * 1e9 + lateMs * 1e6) * speed;
  if (sweep !== null) return Math.min(moment + went, sweep.start + sweep.span);
  const to = direction < 0 ? moment - went : moment + went;
  return Math.max(0, Math.min(to, Math.max(end, moment)));
}

/** A follower that plays may be so far from the driver before it is moved, s of this page. */
const toleratedS = 0.25;

/** A follower plays as it should already: moving it would only make the picture jerk. */
export function isThere(now: Moving, { look, mode, direction, speed, ...to }: Target): boolean {
  if (look === null || now.mode !== mode) return false;
  const sameWindow = Math.abs(now.start - look.start) <= 1 && Math.abs(now.span - look.span) <= 1;
  const aligned = now.alignment === to.align && (to.nth === undefined || now.operation === to.nth);
  const pace = speed === null || Math.abs(now.speed / speed - 1) < 0.001;
  const off = Math.abs(now.moment - look.moment);
  const near = mode === 'paused' ? off <= 1 : off <= toleratedS * 1e9 * now.speed;
  return sameWindow && aligned && pace && near && now.direction === direction;
}
