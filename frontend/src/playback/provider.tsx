// SPDX-License-Identifier: GPL-2.0-or-later
/** Owns the player of the page, and gives it the lanes that it moves. */

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from 'react';
import { must } from '../base/assert.ts';
import { frameLoop } from '../base/raf.ts';
import type { Signal } from '../base/signal.ts';
import { indexRun, pickLanes } from '../derive/run-index.ts';
import type { RunIndex } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useEventsVersion, useStore } from '../store/hooks.tsx';
import type { Store } from '../store/store.ts';
import { Player } from './player.ts';
import type { World } from './state.ts';

/** What the hooks of a provider share. */
export interface Stage {
  readonly player: Player;
  /** The index of the lanes on show, brought up to date at the call. */
  readonly index: () => RunIndex | null;
  readonly whole: () => RunIndex | null;
  /** Where a step's moment is looked for. */
  readonly currentIndex: () => RunIndex | null;
  readonly lesson: () => Lesson | null;
}

const Context = createContext<Stage | null>(null);

export function reducedMotion(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(prefers-reduced-motion: reduce)').matches;
}

function indexNow(store: Store): RunIndex | null {
  const run = store.shown();
  const lesson = store.lesson.get();
  if (run === null || lesson === null) return null;
  // The run of the lesson that was left stays on show until the new one has events.
  const other = run.message !== null && run.message.lesson !== lesson.slug;
  return other ? null : indexRun(run, lesson);
}

/** Owns the player. `arms` are the lanes on show, in order; without it all of the run. */
export function PlaybackProvider({
  arms,
  children,
}: {
  readonly arms?: readonly string[];
  readonly children: ReactNode;
}) {
  const store = useStore();
  const shownArms = useRef(arms);
  shownArms.current = arms;
  const given = useMemo(() => {
    const whole = () => indexNow(store);
    const index = () => {
      const all = whole();
      const wanted = shownArms.current;
      return all === null || wanted === undefined ? all : pickLanes(all, wanted);
    };
    return { index, whole, currentIndex: index, news: [store.events] };
  }, [store]);
  return <LanesProvider given={given}>{children}</LanesProvider>;
}

/** Lanes that a player moves, and who tells that there is more of them. */
export type GivenLanes = Omit<Stage, 'player' | 'lesson'> & { readonly news: readonly Signal[] };

/** Owns the player of any lanes: those of one run, or of two. */
export function LanesProvider({
  given,
  children,
}: {
  readonly given: GivenLanes;
  readonly children: ReactNode;
}) {
  const store = useStore();
  const stage = useMemo<Stage>(() => {
    const world = (): World => ({ index: given.index(), reduced: reducedMotion() });
    const lesson = () => store.lesson.get();
    return { player: new Player(frameLoop, world), ...given, lesson };
  }, [store, given]);
  useEffect(() => stage.player.run(), [stage]);
  // For tests and for the curious: the store and the index behind the picture.
  useEffect(() => {
    Object.assign(globalThis, { duet: { store, index: stage.index, player: stage.player } });
  }, [stage, store]);
  useEffect(() => {
    const offs = given.news.map((signal) => signal.subscribe(() => stage.player.nudge()));
    return () => {
      for (const off of offs) off();
    };
  }, [given, stage]);
  return <Context value={stage}>{children}</Context>;
}

export function useStage(): Stage {
  return must(useContext(Context), 'PlaybackProvider');
}

/** The index of the lanes on show; a new object at most ten times a second while events arrive. */
export function useRunIndex(): RunIndex | null {
  const stage = useStage();
  useEventsVersion();
  return stage.index();
}

/** All lanes of the run, shown or not. */
export function useWholeIndex(): RunIndex | null {
  const stage = useStage();
  useEventsVersion();
  return stage.whole();
}
