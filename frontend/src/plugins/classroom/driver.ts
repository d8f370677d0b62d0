// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The leader of a class: the lesson positions that a leader's page sends, how a follower's page applies them, and the
 * hooks.
 */

import { useEffect, useRef } from 'react';
import type { RunIndex } from '../../derive/types.ts';
import { nthOf } from '../../navigation/navigation.ts';
import { frontPage, type Place, readPlace, writePlace } from '../../navigation/place.ts';
import type { Go } from '../../navigation/use-navigation.ts';
import { type Playback, useStage } from '../../playback/hooks.tsx';
import type { PlaybackState } from '../../playback/machine.ts';
import type { PageNow } from '../../plugins.tsx';
import type { Scene } from '../../protocol/lesson.ts';
import { useConnection } from '../../store/hooks.tsx';
import { type ClassPlace, ledTo, watches } from './class-state.ts';
import type { DrivenPlace } from './classroom.ts';
import { useRoom, useVisit } from './hooks.tsx';
import { type Spot, useSpotlight } from './pointing.tsx';

// The lesson position that a leader's page sends, and how a follower's page applies this position. Pure.

/** Maximum length of an address that the server accepts, in characters. */
const mostChars = 1024;

/** What a page shows, without the moment: lesson, step, arms and run, and other parts of the address. */
type Scenery = Pick<PageNow, 'lesson' | 'scene' | 'arms' | 'place' | 'run'>;

type Moving = Pick<
  PlaybackState,
  'mode' | 'moment' | 'start' | 'span' | 'speed' | 'direction' | 'alignment' | 'operation'
>;

/**
 * The position of a page in the lesson, without its moment, its time window, and the settings that each viewer chooses
 * alone.
 */
export function sceneryPlace({ lesson, scene, arms, place, run }: Scenery): Place {
  const { beside, knobs, clock, workload, panes, side, patch, hunk } = place;
  return {
    ...frontPage,
    ...{ lesson: lesson.slug, step: scene.id, run, beside, arms },
    ...{ knobs, clock, workload, panes, side, patch, hunk },
  };
}

/** @param now the playback; null if the stage is covered or empty, so that there is no moment to share */
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

/**
 * The lesson position that a follower's page shows. Presentation mode, slide and embedding remain the follower's own.
 */
export function requestedOf(message: ClassPlace, own: Place): Place {
  const { present, slide, embed } = own;
  const read = readPlace(message.place);
  const step = read.step ?? (message.step || null);
  const shell = read.beside === null ? { present, slide, embed } : {};
  return { ...read, lesson: message.lesson, step, ...shell };
}

/** Whether a follower's page shows the leader's position, apart from the moment. */
export function sameScenery(wanted: Place, own: Place): boolean {
  return sceneryText(wanted, own) === sceneryText(own, own);
}

/**
 * A lesson position without its moment, as text. If the position names no run or no arms, the run or arms of `own` are
 * used.
 */
function sceneryText(place: Place, own: Place): string {
  return writePlace({
    ...place,
    run: place.run ?? own.run,
    arms: place.arms ?? own.arms,
    ...{ moment: null, window: null, speed: null, align: null, nth: null },
    ...{ present: null, slide: null, embed: false },
  });
}

/** The state that a follower's playback should have. */
interface Target {
  readonly align: PlaybackState['alignment'];
  readonly nth: number | undefined;
  readonly speed: number | null;
  /** The window and moment to show; null for the step's own window and moment. */
  readonly look: { readonly start: number; readonly span: number; readonly moment: number } | null;
  readonly mode: ClassPlace['mode'];
  readonly direction: 1 | -1;
}

/**
 * @param lateMs time since the message arrived at this page
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

/** The leader's current moment, if their playback has continued unchanged since the message was sent. */
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

/**
 * Tolerated distance between a follower's moment and the leader's moment during playback, in seconds of real time. A
 * follower that is further away is moved.
 */
const toleratedS = 0.25;

/** Whether a follower's playback is already in the target state. Moving it again would only make the picture jerk. */
export function isThere(now: Moving, { look, mode, direction, speed, ...to }: Target): boolean {
  if (look === null || now.mode !== mode) return false;
  const sameWindow = Math.abs(now.start - look.start) <= 1 && Math.abs(now.span - look.span) <= 1;
  const aligned = now.alignment === to.align && (to.nth === undefined || now.operation === to.nth);
  const pace = speed === null || Math.abs(now.speed / speed - 1) < 0.001;
  const off = Math.abs(now.moment - look.moment);
  const near = mode === 'paused' ? off <= 1 : off <= toleratedS * 1e9 * now.speed;
  return sameWindow && aligned && pace && near && now.direction === direction;
}

// A member's page follows the leader: it opens the leader's position like a link.
// After opening the position, the page plays on from the leader's moment.

function move(playback: Playback, scene: Scene, target: Target): void {
  if (isThere(playback.now(), target)) return;
  const { align, nth, speed, look, mode, direction } = target;
  if (look === null) {
    // The leader shares no moment, so each page shows the step's own moment.
    if (playback.now().mode !== 'scope') playback.goto(scene);
    return;
  }
  const { alignment, operation } = playback.now();
  if (alignment !== align || (nth !== undefined && nth !== operation)) playback.align(align, nth);
  if (speed !== null) playback.setSpeed(speed);
  playback.look(look.start, look.span, look.moment);
  if (mode === 'scope') playback.sweep();
  // At the end there is nothing left to play; calling play() would start over from the beginning.
  const ended = direction > 0 && !playback.state.live && look.moment >= playback.state.watermark;
  if (mode === 'play' && !ended) playback.play(direction);
}

/** Follow the leader, and report to the class which step this page shows. */
export function useFollow(page: PageNow): void {
  const { classroom, room, following, open, aside } = useRoom();
  const visit = useVisit();
  /** Keys of the last message that was applied completely, and of the last position that was visited. */
  const done = useRef('');
  const visited = useRef('');
  useEffect(() => {
    if (!following) {
      done.current = '';
      visited.current = '';
      return;
    }
    const { by, place: driver, at } = ledTo(room, aside);
    if (driver === null || driver.lesson !== page.lesson.slug) return;
    const key = JSON.stringify([by, driver.class_id, driver.number, page.veiled]);
    if (key === done.current) return;
    const own = sceneryPlace(page);
    const wanted = requestedOf(driver, page.place);
    const text = sceneryText(wanted, own);
    if (text !== visited.current && !sameScenery(wanted, own)) {
      visited.current = text;
      visit(wanted);
      return;
    }
    visited.current = text;
    if (!page.ready) return;
    done.current = key;
    const lateMs = performance.now() - at;
    const end = page.playback.state.watermark;
    move(page.playback, page.scene, targetOf(driver, page.scene, lateMs, end));
    if (by === 'back') classroom?.setAside(null);
  });
  const step = page.scene.id;
  // Report after every render, because the class or the follow mode may have changed. Only changes are sent.
  useEffect(() => {
    if (open) classroom?.report(step);
  });
}

/** Actions of a person (playback, Back and Forward) stop following. */
export function useDetach(): void {
  const { classroom } = useRoom();
  const { player } = useStage();
  useEffect(() => {
    if (classroom === null) return undefined;
    const detach = () => classroom.detach();
    const off = player.moved.subscribe(detach);
    addEventListener('popstate', detach);
    return () => {
      off();
      removeEventListener('popstate', detach);
    };
  }, [classroom, player]);
}

/**
 * Parts of an address whose change ends following. Panes and slide modes are not among them, because each viewer
 * chooses them alone.
 */
const moving = [
  ...(['lesson', 'step', 'run', 'beside', 'arms', 'knobs', 'clock', 'workload'] as const),
  ...(['moment', 'window', 'speed', 'align', 'nth'] as const),
] satisfies readonly (keyof Place)[];

/** Wrap navigation: a follower who navigates stops following the leader. */
export function useOwnGo(go: Go, place: Place): Go {
  const { classroom } = useRoom();
  return (change, how) => {
    const differs = (key: (typeof moving)[number]) =>
      key in change && JSON.stringify(change[key]) !== JSON.stringify(place[key]);
    if (moving.some(differs)) classroom?.detach();
    go(change, how);
  };
}

// A page sends its position in the lesson on each change, and at intervals while it plays.

/** Interval at which a playing page sends its position again, which corrects followers' pages that have drifted. */
const againMs = 2000;

/**
 * @param send receives a function that reads the position at the time of sending; null if this page sends no position
 * @param about values whose change causes the position to be sent again
 */
function usePlaces(
  page: PageNow,
  spotlight: Spot | null,
  send: ((read: () => DrivenPlace) => void) | null,
  about: readonly unknown[],
): void {
  const connection = useConnection();
  const latest = useRef({ page, spotlight, send });
  latest.current = { page, spotlight, send };
  /** `n`: number of times that the oscilloscope has restarted its window. `moment`: the moment at the last render. */
  const sweeps = useRef({ n: 0, moment: 0 });
  const { state } = page.playback;
  if (state.mode === 'scope' && state.moment < sweeps.current.moment) sweeps.current.n += 1;
  sweeps.current.moment = state.moment;

  const sends = send !== null;
  const shown = page.ready && !page.veiled;
  const own = sceneryPlace(page);
  const { mode, direction, speed, alignment, operation, start, span, moment } = state;
  const still = mode === 'paused' ? moment : sweeps.current.n;
  const motion = [mode, direction, speed, alignment, operation, start, span, still];
  const key = JSON.stringify([
    ...[sceneryText(own, own), shown, shown ? motion : null, spotlight],
    ...[sends, connection.state, ...about],
  ]);
  const moves = sends && shown && mode !== 'paused';
  useEffect(() => {
    if (!sends || key === '') return undefined;
    const read = () => {
      const { page: now, spotlight: spot } = latest.current;
      const seen = now.ready && !now.veiled;
      return { ...drivenOf(now, seen ? now.playback.now() : null), spotlight: spot };
    };
    const act = () => latest.current.send?.(read);
    act();
    if (!moves) return undefined;
    const timer = setInterval(() => {
      // A hidden page must not override a visible one.
      if (!document.hidden) act();
    }, againMs);
    return () => clearInterval(timer);
  }, [sends, key, moves]);
}

// A leader's page sends its position in the lesson to the class.

export function useDrive(page: PageNow, spotlight: Spot | null): void {
  const { classroom, room, driving, entering } = useRoom();
  const send = driving && classroom !== null ? classroom.drive.bind(classroom) : null;
  usePlaces(page, spotlight, send, [room?.classId, entering]);
}

// Both sides of observing: the member's page sends its position, and the instructor's page stores its own position.

/** Call this hook before useFollow, so that the instructor's own position is stored before the page leaves it. */
function useShoulder(page: PageNow): void {
  const { classroom, room, open } = useRoom();
  const watched = open && room?.board.watched?.phase === 'watched';
  const send = watched && classroom !== null ? classroom.here.bind(classroom) : null;
  usePlaces(page, null, send, [room?.classId]);
  const leaves = open && watches(room);
  useEffect(() => {
    if (!leaves || classroom === null || classroom.aside.get() !== null) return;
    const now = page.ready && !page.veiled ? page.playback.now() : null;
    classroom.setAside({
      ...{ type: 'class_place', class_id: room?.classId ?? '', number: 0, age_s: 0, sent_ns: 0 },
      ...{ step: '', place: '', moment_ns: null, direction: 1, speed: null },
      ...drivenOf(page, now),
      spotlight: null,
      // The page will return to the same moment and pause there.
      mode: 'paused',
    });
  });
}

// Everything that a lesson page does in a class: it follows or leads, and shows the spotlight.

export function useInClass(page: PageNow, index: RunIndex | null) {
  const spotlight = useSpotlight(index);
  useShoulder(page);
  useFollow(page);
  useDetach();
  useDrive(page, spotlight.spot);
  return spotlight;
}

export type InClass = ReturnType<typeof useInClass>;

// The page that compares two runs also follows or leads, like a lesson page.

export function useInCompare(page: PageNow): void {
  useFollow(page);
  useDetach();
  useDrive(page, null);
}

/** While two runs are loading, or if they cannot be loaded, a follower's page still follows the leader. */
export function useFollowAway(place: Place): void {
  const { room, following } = useRoom();
  const visit = useVisit();
  const driver = room?.place ?? null;
  useEffect(() => {
    if (!following || driver === null || driver.lesson !== place.lesson) return;
    const wanted = requestedOf(driver, place);
    if (wanted.beside !== place.beside || wanted.run !== place.run) visit(wanted);
  }, [following, driver, place, visit]);
}
