// SPDX-License-Identifier: GPL-2.0-or-later
/** A member's page follows the driver: it goes to his place as to a link, and plays on from his moment. */

import { useEffect, useRef } from 'react';
import type { Place } from '../navigation/place.ts';
import type { Go } from '../navigation/use-navigation.ts';
import { type Playback, useStage } from '../playback/hooks.tsx';
import type { Scene } from '../protocol/lesson.ts';
import { ledTo } from './board-state.ts';
import {
  isThere,
  requestedOf,
  type Scenery,
  sameScenery,
  sceneryPlace,
  sceneryText,
  type Target,
  targetOf,
} from './driven.ts';
import { useRoom, useVisit } from './hooks.tsx';

export interface PageNow extends Scenery {
  /** The viewer may go about in the run on show. */
  readonly ready: boolean;
  /** The stage is covered: a prediction is asked. */
  readonly veiled: boolean;
  /** Of the page itself: what it does is no act of a person. */
  readonly playback: Playback;
}

function move(playback: Playback, scene: Scene, target: Target): void {
  if (isThere(playback.now(), target)) return;
  const { align, nth, speed, look, mode, direction } = target;
  if (look === null) {
    // The driver shares no moment: each looks where the step does.
    if (playback.now().mode !== 'scope') playback.goto(scene);
    return;
  }
  const { alignment, operation } = playback.now();
  if (alignment !== align || (nth !== undefined && nth !== operation)) playback.align(align, nth);
  if (speed !== null) playback.setSpeed(speed);
  playback.look(look.start, look.span, look.moment);
  if (mode === 'scope') playback.sweep();
  // At the end there is nothing to play; it would begin anew.
  const ended = direction > 0 && !playback.state.live && look.moment >= playback.state.watermark;
  if (mode === 'play' && !ended) playback.play(direction);
}

/** Also reports to the class which step is seen here. */
export function useFollow(page: PageNow): void {
  const { classroom, room, following, open, aside } = useRoom();
  const visit = useVisit();
  /** The place that this page was brought to, and the scenery that it was sent to. */
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
  // Also when the class has become known, and when following has changed.
  useEffect(() => {
    if (open) classroom?.report(step);
  });
}

/** What a person does moves this page out of the class: by the playback, by Back and Forward. */
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

/** Changes of an address that show something else; panes and shells are each viewer's own. */
const moving = [
  ...(['lesson', 'step', 'run', 'beside', 'arms', 'knobs', 'clock', 'workload'] as const),
  ...(['moment', 'window', 'speed', 'align', 'nth'] as const),
] satisfies readonly (keyof Place)[];

/** Goes where a person wants to go: who follows a class explores from then on. */
export function useOwnGo(go: Go, place: Place): Go {
  const { classroom } = useRoom();
  return (change, how) => {
    const differs = (key: (typeof moving)[number]) =>
      key in change && JSON.stringify(change[key]) !== JSON.stringify(place[key]);
    if (moving.some(differs)) classroom?.detach();
    go(change, how);
  };
}
