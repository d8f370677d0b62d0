// SPDX-License-Identifier: GPL-2.0-or-later
/** Playback of a page: the state machine, the animation loop and the subscribers. The moment is its only state. */

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
 * Least interval between updates of text about a moving moment: faster text cannot be read. Figures in the picture
 * change together with the text (derive/figures.ts), so that both agree in every painted frame. At rest both show the
 * current moment.
 */
export const textEveryMs = 100;

/**
 * Whether another window is shown, or the same from its start, so that text must update. Not while windows change too
 * fast.
 */
function turned(before: PlaybackState, after: PlaybackState): boolean {
  const sweepMs = after.span / (after.speed * millisecond);
  const back = (after.moment - before.moment) * after.direction < 0;
  return (back || after.start !== before.start) && sweepMs >= textEveryMs;
}

/** While guests run on the wall clock, browser and guests share the CPUs. */
const liveFps = 20;

/** A person, or the page: a link, a step, the driver of a class. */
export type Actor = 'person' | 'page';

/** Actions that pause playback or move it. */
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
  /** Events arrived since the last frame. */
  #news = false;
  #text: PlaybackState = initialPlayback;
  #textFrame: Frame = this.#frame;
  readonly #frames = new Signal();
  /** The state for text: immediate after actions, at most ten times a second during motion. */
  readonly texts = new Signal();
  /** A person moved the playback or changed how it moves; not a link, a step or the driver of a class. */
  readonly moved = new Signal();
  /** For canvases: the frame, and a subscription to new ones. */
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

  /** The frame of the text state; the same object as the canvases' frame, if published. */
  readonly textFrame = (): Frame => this.#textFrame;

  /** Join the animation loop. Returns a function that leaves it. */
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

  /** New events arrived: an oscilloscope that waits for a window may have one now. */
  nudge(): void {
    this.#news = true;
    this.#frames.emit();
    this.#loop.wake();
  }

  #tick = (_nowMs: number, dtMs: number): boolean => {
    const world = this.#world();
    const { index } = world;
    this.#loop.maxFps = index?.live === true && index.clock === 'wall' ? liveFps : 60;
    // Once a frame instead of once per batch, because updating the index is expensive.
    if (this.#news) {
      this.#news = false;
      const before = this.#state;
      this.#set(renew(before, world));
      if (this.#state !== before) this.#tellText();
    }
    // A tab that was suspended advances by one ordinary frame.
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
