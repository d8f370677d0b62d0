// SPDX-License-Identifier: GPL-2.0-or-later
/** The only animation loop of the page. It stops while nothing moves, to leave the CPUs to the guests. */

export interface Clock {
  request(callback: (nowMs: number) => void): number;
  cancel(handle: number): void;
}

const browserClock: Clock = {
  request: (callback) => requestAnimationFrame(callback),
  cancel: (handle) => cancelAnimationFrame(handle),
};

/**
 * Called once per frame. `dtMs` is the time since the previous call; it is 0 for the first call. Returns true to be
 * called again in the next frame.
 */
export type Tick = (nowMs: number, dtMs: number) => boolean;

export class FrameLoop {
  #clock: Clock;
  /** The phases of a frame: `move` advances time, then `draw` draws. */
  readonly #ticks = { move: new Set<Tick>(), draw: new Set<Tick>() };
  #handle: number | null = null;
  #last: number | null = null;
  /**
   * Maximum frames per second. The limit is lower during a live run, because the browser shares the CPUs with the
   * guests.
   */
  maxFps = 60;

  constructor(clock: Clock = browserClock) {
    this.#clock = clock;
  }

  get #size(): number {
    return this.#ticks.move.size + this.#ticks.draw.size;
  }

  /** Add a tick, starting the loop if needed. Returns a function that removes the tick. */
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

  /** Request at least one more frame, because something has changed. */
  wake(): void {
    if (this.#handle === null && this.#size > 0) {
      this.#handle = this.#clock.request(this.#frame);
    }
  }

  #frame = (nowMs: number): void => {
    this.#handle = null;
    const dtMs = this.#last === null ? 0 : nowMs - this.#last;
    // A tolerance of 4 ms is needed: a 60 Hz display has a frame every 16.7 ms, and three such frames take 50 ms.
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
