// SPDX-License-Identifier: GPL-2.0-or-later
/** The playback of a page: the state machine, the animation loop and who listens. The moment is its only state. */

import type { FrameLoop } from '../base/raf.ts';
import { Signal } from '../base/signal.ts';
import type { Frame, FrameSource } from '../derive/types.ts';
import { advance, frameOf, reduce, renew } from './machine.ts';
import { type Action, initialPlayback, type PlaybackState, type World } from './state.ts';

/** Text about a moving moment changes at most so often. */
const textEveryMs = 100;

/** While guests run on the wall clock, browser and guests share the cores. */
const liveFps = 20;

export class Player {
  readonly #loop: FrameLoop;
  readonly #world: () => World;
  #state: PlaybackState = initialPlayback;
  #frame: Frame = frameOf(initialPlayback);
  #sinceTextMs = 0;
  /** Events came since the last frame. */
  #news = false;
  #text: PlaybackState = initialPlayback;
  readonly #frames = new Signal();
  /** The state for text: every action at once, motion at most ten times a second. */
  readonly texts = new Signal();
  /** For canvases: the frame, and a call for each new one. */
  readonly frame: FrameSource;

  constructor(loop: FrameLoop, world: () => World) {
    this.#loop = loop;
    this.#world = world;
    this.frame = { get: () => this.#frame, subscribe: this.#frames.subscribe };
  }

  get state(): PlaybackState {
    return this.#state;
  }

  readonly textState = (): PlaybackState => this.#text;

  /** Joins the loop; what comes back leaves it. */
  run(): () => void {
    return this.#loop.add(this.#tick, 'move');
  }

  do(action: Action): void {
    this.#set(reduce(this.#state, action, this.#world()));
    this.#tellText();
    this.#loop.wake();
  }

  /** New events came: a scope that waits for a window may have one now. */
  nudge(): void {
    this.#news = true;
    this.#frames.emit();
    this.#loop.wake();
  }

  #tick = (_nowMs: number, dtMs: number): boolean => {
    const world = this.#world();
    const { index } = world;
    this.#loop.maxFps = index?.live === true && index.clock === 'wall' ? liveFps : 60;
    // Once a frame, not once a batch: an index that is brought up to date costs time.
    if (this.#news) {
      this.#news = false;
      const before = this.#state;
      this.#set(renew(before, world));
      if (this.#state !== before) this.#tellText();
    }
    // A tab that slept gets one ordinary frame, not a leap.
    this.#set(advance(this.#state, Math.min(dtMs, 100), world));
    this.#sinceTextMs += dtMs;
    if (this.#text !== this.#state && this.#sinceTextMs >= textEveryMs) this.#tellText();
    const waits = this.#state.mode === 'scope' && !this.#state.armed;
    return this.#state.mode !== 'paused' && !waits;
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
    this.texts.emit();
  }
}
