// SPDX-License-Identifier: GPL-2.0-or-later
/** The page's only animation loop. It stops while nothing moves, so that guests get the CPUs. */

export interface Clock {
  request(callback: (nowMs: number) => void): number;
  cancel(handle: number): void;
}

const browserClock: Clock = {
  request: (callback) => requestAnimationFrame(callback),
  cancel: (handle) => cancelAnimationFrame(handle),
};

/** Called once a frame; `dtMs` is the time since its last frame, 0 on the first. Return true to be called again. */
export type Tick = (nowMs: number, dtMs: number) => boolean;

export class FrameLoop {
  #clock: Clock;
  /** Phases of a frame: `move` advances time before `draw`. */
  readonly #ticks = { move: new Set<Tick>(), draw: new Set<Tick>() };
  #handle: number | null = null;
  #last: number | null = null;
  /** Limit of frames per second: browser and guests share the CPUs during a live run. */
  maxFps = 60;

  constructor(clock: Clock = browserClock) {
    this.#clock = clock;
  }

  get #size(): number {
    return this.#ticks.move.size + this.#ticks.draw.size;
  }

  /** Add a tick and start the loop. Returns a function that removes it. */
  add(tick: Tick, phase: 'move' | 'draw' = 'draw'): () => void {
    this.#ticks[phase].add(tick);
    this.wake();
    return () => {
      this.#ticks[phase].delete(tick);
      if (this.#size === 0 && this.#handle !== null) {
        this.#clock.cancel(this.#handle);
        this.#handle = null;
        this.#last = null;
      }
    };
  }

  /** Request at least one more frame after a change. */
  wake(): void {
    if (this.#handle === null && this.#size > 0) {
      this.#handle = this.#clock.request(this.#frame);
    }
  }

  #frame = (nowMs: number): void => {
    this.#handle = null;
    const dtMs = this.#last === null ? 0 : nowMs - this.#last;
    // 4 ms of tolerance: a 60 Hz display has frames of 16.7 ms, and three of them make 50 ms.
    if (this.#last !== null && dtMs < 1000 / this.maxFps - 4) {
      this.#handle = this.#clock.request(this.#frame);
      return;
    }
    this.#last = nowMs;
    let again = false;
    for (const tick of [...this.#ticks.move, ...this.#ticks.draw]) {
      again = tick(nowMs, dtMs) || again;
    }
    if (again) this.#handle ??= this.#clock.request(this.#frame);
    else if (this.#handle === null) this.#last = null;
  };
}

/** The loop shared by everything on the page. */
export const frameLoop = new FrameLoop();
