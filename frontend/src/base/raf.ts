// SPDX-License-Identifier: GPL-2.0-or-later
/** The one animation loop of the page. It sleeps while nothing moves, so that guests keep the cores. */

export interface Clock {
  request(callback: (nowMs: number) => void): number;
  cancel(handle: number): void;
}

const browserClock: Clock = {
  request: (callback) => requestAnimationFrame(callback),
  cancel: (handle) => cancelAnimationFrame(handle),
};

/** Called once a frame; `dtMs` is the time since its last frame, 0 on the first. True: call again. */
export type Tick = (nowMs: number, dtMs: number) => boolean;

export class FrameLoop {
  #clock: Clock;
  /** What moves time goes before what draws it. */
  readonly #ticks = { move: new Set<Tick>(), draw: new Set<Tick>() };
  #handle: number | null = null;
  #last: number | null = null;
  /** At most so many frames a second. Browser and guests share the cores while a live run goes. */
  maxFps = 60;

  constructor(clock: Clock = browserClock) {
    this.#clock = clock;
  }

  get #size(): number {
    return this.#ticks.move.size + this.#ticks.draw.size;
  }

  /** Adds a caller and wakes the loop. */
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

  /** Something changed: one more frame at least. */
  wake(): void {
    if (this.#handle === null && this.#size > 0) {
      this.#handle = this.#clock.request(this.#frame);
    }
  }

  #frame = (nowMs: number): void => {
    this.#handle = null;
    const dtMs = this.#last === null ? 0 : nowMs - this.#last;
    // 4 ms of grace: a 60 Hz display calls at 16.7 ms steps, 50 ms is three of them.
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

/** The loop that everything on the page shares. */
export const frameLoop = new FrameLoop();
