// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The playback of a page: it connects the state machine, the animation loop and the subscribers. The moment is its only
 * state.
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
 * Minimum time between updates of text while the moment moves, ms; text that changes faster cannot be read. Figures in
 * the picture change together with the text (derive/figures.ts), so that both agree in every painted frame. At rest
 * both show the current moment.
 */
export const textEveryMs = 100;

/**
 * Whether the window has changed or has started over, so that text must be updated. False if windows change too fast.
 */
function turned(before: PlaybackState, after: PlaybackState): boolean {
  const sweepMs = after.span / (after.speed * millisecond);
  const back = (after.moment - before.moment) * after.direction < 0;
  return (back || after.start !== before.start) && sweepMs >= textEveryMs;
}

/** Maximum frames per second while guests run on the wall clock, because the browser shares the CPUs with them. */
const liveFps = 20;

/** Who acts: a person, or the page, which follows a link, a step or the class's leader. */
export type Actor = 'person' | 'page';

/** Fields of the state. If one of them changes, playback was moved or paused. */
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
  /** Whether events arrived since the last frame. */
  #news = false;
  #text: PlaybackState = initialPlayback;
  #textFrame: Frame = this.#frame;
  readonly #frames = new Signal();
  /** Announces the state for text: at once after an action, and at most ten times a second during motion. */
  readonly texts = new Signal();
  /**
   * Announces that a person has moved playback or changed its motion. Links, steps and the class's leader do not count.
   */
  readonly moved = new Signal();
  /** For canvases: the current frame, and a subscription to new frames. */
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

  /** The frame for the state of text. If canvases show the same state, it is the same object as theirs. */
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

  /** Called when events arrive, because an oscilloscope that waits for a window may have one now. */
  nudge(): void {
    this.#news = true;
    this.#frames.emit();
    this.#loop.wake();
  }

  #tick = (_nowMs: number, dtMs: number): boolean => {
    const world = this.#world();
    const { index } = world;
    this.#loop.maxFps = index?.live === true && index.clock === 'wall' ? liveFps : 60;
    // Done once per frame instead of once per batch, because updating the index is expensive.
    if (this.#news) {
      this.#news = false;
      const before = this.#state;
      this.#set(renew(before, world));
      if (this.#state !== before) this.#tellText();
    }
    // After a tab was suspended, playback advances by one ordinary frame only.
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
