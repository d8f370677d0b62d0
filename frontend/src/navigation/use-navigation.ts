// SPDX-License-Identifier: GPL-2.0-or-later
/** Reports to the navigation reducer what changed, and carries its commands out. */

import { useEffect, useRef, useState } from 'react';
import type { Playback } from '../playback/hooks.tsx';
import { useCommands, useLost } from '../store/hooks.tsx';
import { adopt, type Command, read, reduce, type Shown, start, type World } from './navigation.ts';
import type { Wanted } from './run.ts';
import type { Go } from './use-place.ts';

/** A run that does not come in this time is not waited for any more; a server says at once if it has none. */
const patienceMs = 30_000;

/** The address is written when the moment has rested for so long. */
const restMs = 300;

interface Options {
  readonly playback: Playback;
  readonly go: Go;
  /** See firstRun. */
  readonly first: Wanted;
}

/** A timer that a newer one replaces. */
class Timer {
  #timer: ReturnType<typeof setTimeout> | undefined;

  set(act: (() => void) | null, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = act === null ? undefined : setTimeout(act, ms);
  }
}

/** The page's part of the world is `world`; playback comes from its own hook. */
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
  /** A state whose commands were carried out is not asked again before React shows the next one. */
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
        return rest.set(change && (() => go(change, 'replace')), restMs);
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
