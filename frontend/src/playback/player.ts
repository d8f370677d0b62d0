// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The playback of a page. It connects the state machine, the animation loop and the subscribers. Its only state is the
 * state of the machine.
 */

import type { FrameLoop } from '../base/raf.ts';
import { Signal } from '../base/signal.ts';
import { millisecond } from '../base/units.ts';
import type { Frame, FrameSource } from '../derive/types.ts';
import {
  type Action,
  advance,
  frameOf,
  initialPlayback,
  type PlaybackState,
  reduce,
  renew,
  type World,
} from './machine.ts';

/**
 * Minimum time between updates of text while the moment moves, ms. Text that changes faster cannot be read. Figures in
 * the picture change together with the text (derive/figures.ts), so that they agree in every painted frame. At rest,
 * picture and text show the current moment.
 */
export const textEveryMs = 100;

/**
 * Whether the window has changed or started over, so that text must be updated immediately. False if windows change
 * faster than text.
 */
function turned(before: PlaybackState, after: PlaybackState): boolean {
  const sweepMs = after.span / (after.speed * millisecond);
  const back = (after.moment - before.moment) * after.direction < 0;
  return (back || after.start !== before.start) && sweepMs >= textEveryMs;
}

/**
 * Maximum number of frames per second while guests run on the wall clock, because the browser shares CPUs with the
 * guests.
 */
const liveFps = 20;

/** Who acts on playback: a person, or the page when it follows a link, a step or the class's leader. */
export type Actor = 'person' | 'page';

/** Fields of the state that change if somebody moves or pauses playback. */
const motion = [
  ...(['mode', 'moment', 'start', 'span', 'speed', 'direction'] as const),
  ...(['alignment', 'operation', 'offset'] as const),
];

export class Player {
  readonly #loop: FrameLoop;
  readonly #world: () => World;
  #state: PlaybackState = initialPlayback;
  #frame: Frame = frameOf(initialPlayback);
  #sinceTextMs = 0;
  /** Whether events have arrived since the last frame. */
  #news = false;
  #text: PlaybackState = initialPlayback;
  #textFrame: Frame = this.#frame;
  readonly #frames = new Signal();
  /** Announces the state that texts show: immediately after an action, and at most ten times a second during motion. */
  readonly texts = new Signal();
  /**
   * Announces that a person has moved playback or changed its motion. Actions by links, steps or the class's leader are
   * not announced.
   */
  readonly moved = new Signal();
  /** The current frame for canvases, and a subscription to new frames. */
  readonly frame: FrameSource;

  constructor(loop: FrameLoop, world: () => World) {
    this.#loop = loop;
    this.#world = world;
    const text = { get: this.textFrame, subscribe: this.texts.subscribe };
    this.frame = { get: () => this.#frame, subscribe: this.#frames.subscribe, text };
  }

  get state(): PlaybackState {
    return this.#state;
  }

  readonly textState = (): PlaybackState => this.#text;

  /** The frame that texts show. It is the same object as the canvases' frame while both show the same state. */
  readonly textFrame = (): Frame => this.#textFrame;

  /** Join the animation loop. Returns a function that leaves the loop. */
  run(): () => void {
    return this.#loop.add(this.#tick, 'move');
  }

  do(action: Action, by: Actor = 'person'): void {
    const before = this.#state;
    this.#set(reduce(before, action, this.#world()));
    this.#tellText();
    this.#loop.wake();
    if (by === 'person' && motion.some((of) => before[of] !== this.#state[of])) this.moved.emit();
  }

  /** Tell the player that events have arrived. An oscilloscope that waits for a window may now have one. */
  nudge(): void {
    this.#news = true;
    this.#frames.emit();
    this.#loop.wake();
  }

  #tick = (_nowMs: number, dtMs: number): boolean => {
    const world = this.#world();
    const { index } = world;
    this.#loop.maxFps = index?.live === true && index.clock === 'wall' ? liveFps : 60;
    // Updating the index is expensive, so it is updated once per frame instead of once per batch.
    if (this.#news) {
      this.#news = false;
      const before = this.#state;
      this.#set(renew(before, world));
      if (this.#state !== before) this.#tellText();
    }
    // After the tab was suspended, playback advances by at most 100 ms.
    const before = this.#state;
    this.#set(advance(before, Math.min(dtMs, 100), world));
    this.#sinceTextMs += dtMs;
    const due = this.#sinceTextMs >= textEveryMs || turned(before, this.#state);
    if (this.#text !== this.#state && due) this.#tellText();
    const waits = this.#state.mode === 'scope' && !this.#state.armed;
    return this.#state.mode !== 'paused' && !waits && !this.#state.veiled;
  };

  #set(next: PlaybackState): void {
    if (next === this.#state) return;
    const ended = this.#state.mode !== 'paused' && next.mode === 'paused';
    this.#state = next;
    this.#frame = frameOf(next);
    this.#frames.emit();
    if (ended) this.#tellText();
  }

  #tellText(): void {
    this.#sinceTextMs = 0;
    this.#text = this.#state;
    this.#textFrame = this.#frame;
    this.texts.emit();
  }
}
