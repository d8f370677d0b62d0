// SPDX-License-Identifier: GPL-2.0-or-later
/** Reports changes to the reducer in navigation.ts, and executes the commands that the reducer returns. */

import { useCallback, useEffect, useRef, useState } from 'react';
import type { RunIndex } from '../derive/types.ts';
import type { Playback } from '../playback/hooks.tsx';
import { useCommands, useLost } from '../store/hooks.tsx';
import { fontsArrived } from '../ui/theme.ts';
import {
  adopt,
  type Command,
  read,
  reduce,
  type Shown,
  start,
  type Wanted,
  type World,
} from './navigation.ts';
import { type Place, readPlace, writePlace } from './place.ts';

// The address bar as React state.
// A new step or run adds a history entry, while a new moment replaces the current history entry.

export type Go = (change: Partial<Place>, how?: 'push' | 'replace') => void;

/**
 * Minimum time between two replacements of a history entry, ms. Browsers limit the number of replacements to some
 * hundred in 30 s, and dragging a knob causes many replacements.
 */
const replaceMs = 150;

/** Writes addresses to the browser's history. Replacements are delayed, and only the last one is written. */
class Address {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #wanted: Place | null = null;

  replace(place: Place): void {
    this.#wanted = place;
    this.#timer ??= setTimeout(() => this.flush(), replaceMs);
  }

  push(place: Place): void {
    this.flush();
    const url = this.#urlOf(place);
    if (url !== null) history.pushState(null, '', url);
  }

  flush(): void {
    const place = this.#wanted;
    this.forget();
    const url = place === null ? null : this.#urlOf(place);
    if (url !== null) history.replaceState(null, '', url);
  }

  /** Discard a pending replacement. It belongs to the old history entry, and the viewer has left that entry. */
  forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#wanted = null;
  }

  #urlOf(place: Place): string | null {
    const url = location.pathname + writePlace(place, location.search);
    return url === location.pathname + location.search ? null : url;
  }
}

interface Visit {
  readonly place: Place;
  /**
   * A counter that increases when the place came from Back, Forward or a link. The complete place must then be
   * restored.
   */
  readonly visit: number;
}

/** Go to a place as a link does, and restore the complete place. Replaces the current history entry. */
export type VisitPlace = (to: Place) => void;

export function usePlace(): readonly [Place, Go, number, VisitPlace] {
  const [{ place, visit }, set] = useState<Visit>(() => ({
    place: readPlace(location.search),
    visit: 0,
  }));
  const [address] = useState(() => new Address());
  useEffect(() => {
    const back = () => {
      address.forget();
      set((now) => ({ place: readPlace(location.search), visit: now.visit + 1 }));
    };
    const leave = () => address.flush();
    addEventListener('popstate', back);
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('popstate', back);
      removeEventListener('pagehide', leave);
      address.flush();
    };
  }, [address]);
  const go = useCallback<Go>(
    (change, how = 'push') => {
      set((now) => {
        const next = { ...now.place, ...change };
        address[how](next);
        return { ...now, place: next };
      });
    },
    [address],
  );
  const visitPlace = useCallback<VisitPlace>(
    (to) => {
      address.replace(to);
      set((now) => ({ place: to, visit: now.visit + 1 }));
    },
    [address],
  );
  return [place, go, visit, visitPlace];
}

/** Maximum time to wait for a run, ms. If a run does not exist, the server reports that immediately. */
const patienceMs = 30_000;

/** Time for which a moment must be at rest before it is written to the address, ms. */
const momentRestMs = 300;

interface Options {
  readonly playback: Playback;
  readonly go: Go;
  /** The run and step that the page requested first (see firstRun). */
  readonly first: Wanted;
}

/** A timer with at most one pending call. Setting the timer replaces the pending call. */
class Timer {
  #timer: ReturnType<typeof setTimeout> | undefined;

  set(act: (() => void) | null, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = act === null ? undefined : setTimeout(act, ms);
  }
}

/** @param part the page's part of the reducer's input. The part about playback comes from `playback`. */
export function useNavigation(
  part: Omit<World, 'playback'>,
  { playback, go, first }: Options,
): Shown {
  const world = { ...part, playback: playback.state };
  const [state, setState] = useState(() => start(world, first));
  const { open } = useCommands();
  const { forgive } = useLost();
  const [patience] = useState(() => new Timer());
  const [rest] = useState(() => new Timer());
  /**
   * The state whose commands were executed last. Until React has rendered a newer state, these commands must not be
   * executed again.
   */
  const handled = useRef<typeof state | null>(null);

  const went = (speed: number) => setState((now) => reduce(now, { type: 'went', speed })[0]);
  const perform = (command: Command): void => {
    switch (command.type) {
      case 'open':
        return open(world.lesson.slug, command.run);
      case 'await': {
        const { run } = command;
        const late = () => setState((now) => reduce(now, { type: 'late', run: run ?? '' })[0]);
        return patience.set(run === null ? null : late, patienceMs);
      }
      case 'forgive':
        return forgive(command.run);
      case 'go':
        return go(command.change, 'replace');
      case 'write': {
        const { change } = command;
        return rest.set(change && (() => go(change, 'replace')), momentRestMs);
      }
      case 'goto':
        playback.goto(command.scene, command.paused);
        return went(playback.now().speed);
      case 'look':
        return playback.look(command.start, command.span, command.moment);
      case 'seek':
        return playback.seek(command.moment);
      case 'align':
        return playback.align(command.by, command.nth);
      case 'speed':
        return playback.setSpeed(command.speed);
    }
  };

  useEffect(() => {
    if (handled.current === state) return;
    const mode = playback.now().mode;
    const seen = { ...world, playback: { ...world.playback, mode } };
    const [next, commands] = reduce(state, { type: 'world', world: seen });
    if (next !== state) {
      handled.current = state;
      setState((now) => adopt(now, next));
    }
    for (const command of commands) perform(command);
  });
  useEffect(
    () => () => {
      patience.set(null, 0);
      rest.set(null, 0);
    },
    [patience, rest],
  );
  return read(state, world);
}

// Finds out whether a run has arrived completely, even if no message says so.

/** A recording whose size was not announced counts as complete after this time without messages, ms. */
const quietMs = 250;

/** Whether a recording has arrived completely, or a live run has its first events. */
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

// Marks the document while the page is idle, for tests and screenshots.

/** Set `data-idle` on the root element while nothing moves and the page is not waiting. */
export function useIdle(idle: boolean): void {
  useEffect(() => {
    let off = false;
    document.documentElement.dataset['idle'] = 'false';
    if (idle) {
      void fontsArrived().then(() => {
        if (!off) document.documentElement.dataset['idle'] = 'true';
      });
    }
    return () => {
      off = true;
    };
  }, [idle]);
}
