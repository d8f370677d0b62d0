// SPDX-License-Identifier: GPL-2.0-or-later
/** At most one call in so many milliseconds; the last one is always made. */

export class Throttle {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #last: (() => void) | null = null;
  readonly #everyMs: number;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  call(act: () => void): void {
    if (this.#timer !== null) {
      this.#last = act;
      return;
    }
    act();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const last = this.#last;
      this.#last = null;
      if (last !== null) this.call(last);
    }, this.#everyMs);
  }

  /** What waits is not called any more. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#last = null;
  }
}
