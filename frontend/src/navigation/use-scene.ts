// SPDX-License-Identifier: GPL-2.0-or-later
/** Takes the playback to where a step looks, restores a link's moment, and keeps the address up to date. */

import { useEffect, useRef, useState } from 'react';
import { spanOf } from '../derive/moments.ts';
import type { RunIndex } from '../derive/types.ts';
import type { Playback } from '../playback/actions.ts';
import type { PlaybackState } from '../playback/machine.ts';
import type { Scene } from '../protocol/lesson.ts';
import type { Align, Place } from './place.ts';
import type { Go } from './use-place.ts';

/** Where nobody says when a recording is whole: it is when no message came for so long. */
const quietMs = 250;

/** True once a recording is whole, or the run is live and has some events. */
export function useSettled(index: RunIndex | null): boolean {
  const id = index?.runId ?? null;
  const [settled, setSettled] = useState<string | null>(null);
  const version = index?.version ?? -1;
  const some = index?.lanes.some((lane) => lane.spans.length > 0 || lane.watermark > 0) ?? false;
  const live = index?.live ?? false;
  const reading = index?.reading ?? 'unknown';
  useEffect(() => {
    if (reading !== 'unknown') return;
    if (id === null || !some || version < 0) return;
    if (live) {
      setSettled(id);
      return;
    }
    const timer = setTimeout(() => setSettled(id), quietMs);
    return () => clearTimeout(timer);
  }, [id, some, live, version, reading]);
  return reading === 'whole' || (reading === 'unknown' && id !== null && settled === id);
}

/**
 * A recording that comes in has the window of a link, as it will be when all is here: the same of all lanes in guest
 * time, whatever comes later. Any other place is one in the whole run.
 */
function linkIsHere(index: RunIndex | null, scene: Scene, at: Place): boolean {
  if (index?.reading !== 'coming' || at.moment === null || at.window === null) return false;
  if ((at.align ?? scene.align) !== 'time' || spanOf(scene) <= 0) return false;
  const end = Math.max(at.moment, at.window.start + at.window.span);
  return index.lanes.length > 0 && index.lanes.every((lane) => lane.watermark >= end);
}

/** Where the scene is gone to: which, in which run, at which visit of the address. */
interface Gone {
  readonly scene: string;
  readonly run: string;
  readonly visit: number;
}

export function useScene(
  scene: Scene,
  index: RunIndex | null,
  playback: Playback,
  place: Place,
  visit: number,
): {
  /** All of the run is here. */
  readonly whole: boolean;
  /** So much of it that the viewer may go about in it. */
  readonly settled: boolean;
  readonly usualSpeed: number;
} {
  const whole = useSettled(index);
  const settled = linkIsHere(index, scene, place) || whole;
  const coming = index?.reading === 'coming';
  const runId = index?.runId ?? null;
  const wish = useRef({ place, playback });
  wish.current = { place, playback };
  const there = useRef<Gone | null>(null);
  const [usualSpeed, setUsualSpeed] = useState(0);
  useEffect(() => {
    const { place: at, playback: player } = wish.current;
    if (runId === null) return;
    const gone = there.current;
    if (gone?.scene === scene.id && gone.run === runId && gone.visit === visit) return;
    const restore = (gone === null || gone.visit !== visit) && at.moment !== null;
    // A place in a part of a run is none: nothing plays there, and a link's window fills as its events come.
    player.goto(scene, restore || (coming && !settled));
    setUsualSpeed(player.now().speed);
    if (!settled) {
      if (coming && restore && at.moment !== null && at.window !== null)
        player.look(at.window.start, at.window.span, at.moment);
      return;
    }
    there.current = { scene: scene.id, run: runId, visit };
    const align = at.align ?? scene.align;
    player.align(align, at.nth ?? nthOf(align, scene));
    if (at.speed !== null) player.setSpeed(at.speed);
    if (!restore || at.moment === null) return;
    if (at.window === null) player.seek(at.moment);
    else player.look(at.window.start, at.window.span, at.moment);
  }, [scene, runId, settled, coming, visit]);

  // A live run that has ended is known as a whole: now the step's own moment can be found in it.
  const live = index?.live ?? false;
  const lived = useRef<string | null>(null);
  useEffect(() => {
    if (live) lived.current = runId;
    else if (lived.current !== null && lived.current === runId) {
      lived.current = null;
      if (wish.current.playback.now().mode === 'scope') wish.current.playback.goto(scene);
    }
  }, [live, runId, scene]);
  const { current: gone } = there;
  const placed = gone?.scene === scene.id && gone.run === runId && gone.visit === visit;
  return { whole, settled: whole || placed, usualSpeed };
}

/** The operation that a step aligns at; none where the one near the window is meant. */
export function nthOf(align: Align, scene: Pick<Scene, 'operation'>): number | undefined {
  return align === 'begin' ? scene.operation : undefined;
}

interface Usual {
  readonly speed: number;
  readonly align: Align;
  readonly nth: number | undefined;
}

/** A still moment is written into the address, with its run and its window; a moving one is not. */
export function useAddress(
  playback: Playback,
  usual: Usual,
  run: string | null,
  ready: boolean,
  go: Go,
): void {
  const key = JSON.stringify(placeAt(playback.state, usual, run));
  useEffect(() => {
    if (!ready) return;
    const timer = setTimeout(() => go(JSON.parse(key), 'replace'), 300);
    return () => clearTimeout(timer);
  }, [ready, key, go]);
}

/** What an address must say of a state of the playback; `run` is named where the moment stands still. */
export function placeAt(
  { mode, moment, start, span, speed, alignment, operation }: PlaybackState,
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

/** Tells tests and screenshots that nothing moves and nothing is awaited. */
export function useIdle(idle: boolean): void {
  useEffect(() => {
    let off = false;
    document.documentElement.dataset['idle'] = 'false';
    if (idle) {
      const fonts = document.fonts?.ready ?? Promise.resolve();
      void fonts.then(() => {
        if (!off) document.documentElement.dataset['idle'] = 'true';
      });
    }
    return () => {
      off = true;
    };
  }, [idle]);
}
