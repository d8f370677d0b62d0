// SPDX-License-Identifier: GPL-2.0-or-later
/** The only animation loop of the page. It stops while nothing moves, so that the guests can use the CPUs. */

export interface Clock {
  request(callback: (nowMs: number) => void): number;
  cancel(handle: number): void;
}

const browserClock: Clock = {
  request: (callback) => requestAnimationFrame(callback),
  cancel: (handle) => cancelAnimationFrame(handle),
};

/**
 * Called once per frame. `dtMs` is the time since the previous call, and 0 in the first call. If the result is true,
 * the function is called again in the next frame.
 */
export type Tick = (nowMs: number, dtMs: number) => boolean;

export class FrameLoop {
  #clock: Clock;
  /** The two phases of a frame: first `move` advances time, then `draw` draws. */
  readonly #ticks = { move: new Set<Tick>(), draw: new Set<Tick>() };
  #handle: number | null = null;
  #last: number | null = null;
  /**
   * Maximum number of frames per second. It is lower during a live run, because the browser shares CPUs with the
   * guests.
   */
  maxFps = 60;

  constructor(clock: Clock = browserClock) {
    this.#clock = clock;
  }

  get #size(): number {
    return this.#ticks.move.size + this.#ticks.draw.size;
  }

  /** Add a function to call in each frame, and start the loop if needed. Returns a function that removes it. */
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
    // A 60 Hz display takes 50 ms for three frames, which is also the interval at 20 frames/s.
    // Frame intervals vary slightly, so a tolerance of 4 ms is needed.
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

/** The animation loop that all parts of the page share. */
export const frameLoop = new FrameLoop();
