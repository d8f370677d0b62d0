// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Notices a connection on which nothing comes any more, though it is not closed: a laptop that slept, a network that
 * forgot it, a server that hangs. The server sends something every 15 s (HEARTBEAT_S in stream/endpoint.py).
 */

export const silentMs = 45_000;
/** To connect; a proxy may hold a request for a server that hangs. */
export const connectMs = 20_000;
const checkMs = 5000;

export class SilenceTimer {
  #timer: ReturnType<typeof setInterval> | undefined;
  #last = 0;

  /** Calls `silent` once nothing has come for so long. */
  start(withinMs: number, silent: () => void): void {
    this.stop();
    this.came();
    // By the clock of the machine: one that slept finds out at its first check.
    this.#timer = setInterval(() => {
      if (Date.now() - this.#last < withinMs) return;
      this.stop();
      silent();
    }, checkMs);
  }

  came(): void {
    this.#last = Date.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
