// SPDX-License-Identifier: GPL-2.0-or-later
/** Takes the playback to where a step looks, restores a link's moment, and keeps the address up to date. */

import { useEffect, useRef, useState } from 'react';
import type { RunIndex } from '../derive/types.ts';
import type { Scene } from '../protocol/lesson.ts';
import type { Playback } from '../views/hooks.tsx';
import type { Align, Place } from './place.ts';
import type { Go } from './use-place.ts';

/** A recording comes in many messages; when none came for so long, it is whole. */
const quietMs = 250;

/** True once no events have come for a while, or the run is live and has some. */
export function useSettled(index: RunIndex | null): boolean {
  const id = index?.runId ?? null;
  const [settled, setSettled] = useState<string | null>(null);
  const version = index?.version ?? -1;
  const some = index?.lanes.some((lane) => lane.spans.length > 0 || lane.watermark > 0) ?? false;
  const live = index?.live ?? false;
  useEffect(() => {
    if (id === null || !some || version < 0) return;
    if (live) {
      setSettled(id);
      return;
    }
    const timer = setTimeout(() => setSettled(id), quietMs);
    return () => clearTimeout(timer);
  }, [id, some, live, version]);
  return id !== null && settled === id;
}

export function useScene(
  scene: Scene,
  index: RunIndex | null,
  playback: Playback,
  place: Place,
): { readonly settled: boolean; readonly usualSpeed: number } {
  const settled = useSettled(index);
  const runId = index?.runId ?? null;
  const wish = useRef({ place, playback });
  wish.current = { place, playback };
  const there = useRef('');
  const [usualSpeed, setUsualSpeed] = useState(0);
  useEffect(() => {
    const { place: at, playback: player } = wish.current;
    if (runId === null) return;
    const here = `${scene.id} ${runId}`;
    if (there.current === here) return;
    const restore = there.current === '' && at.moment !== null;
    player.goto(scene, restore);
    setUsualSpeed(player.now().speed);
    if (!settled) return;
    there.current = here;
    player.align(at.align ?? scene.align, scene.operation);
    if (at.speed !== null) player.setSpeed(at.speed);
    if (restore && at.moment !== null) player.seek(at.moment);
  }, [scene, runId, settled]);

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
  return { settled, usualSpeed };
}

/** A still moment is written into the address; a moving one is not. */
export function useAddress(
  playback: Playback,
  usual: number,
  usualAlign: Align,
  ready: boolean,
  go: Go,
): void {
  const { mode, moment, speed, alignment } = playback.state;
  const at = mode === 'paused' ? Math.round(moment) : null;
  useEffect(() => {
    if (!ready) return;
    const timer = setTimeout(() => {
      go(
        {
          moment: at,
          speed: Math.abs(speed / usual - 1) < 0.01 ? null : speed,
          align: alignment === usualAlign ? null : alignment,
        },
        'replace',
      );
    }, 300);
    return () => clearTimeout(timer);
  }, [ready, at, speed, alignment, usual, usualAlign, go]);
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
