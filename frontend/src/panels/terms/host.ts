// SPDX-License-Identifier: GPL-2.0-or-later
/** Which term's card is open, and when it opens and closes. One at a time. */

export interface Shown {
  readonly name: string;
  readonly anchor: HTMLElement;
  /** It was asked for by a click or a tap, and stays when the pointer leaves. */
  readonly pinned: boolean;
}

const openMs = 160;
/** Long enough to go from the word to its card. */
const closeMs = 220;

export class CardHost {
  private shown: Shown | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();

  readonly current = (): Shown | null => this.shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The mouse came over the word. */
  point(name: string, anchor: HTMLElement): void {
    this.later(openMs, () => {
      if (this.shown?.anchor !== anchor) this.set({ name, anchor, pinned: false });
    });
  }

  /** Keys came to the word. */
  focus(name: string, anchor: HTMLElement): void {
    this.stay();
    this.set({ name, anchor, pinned: false });
  }

  /** First click: it stays. Second click: it goes. */
  click(name: string, anchor: HTMLElement): void {
    this.stay();
    const again = this.shown?.anchor === anchor && this.shown.pinned;
    this.set(again ? null : { name, anchor, pinned: true });
  }

  /** The mouse left the word, or its card. */
  leave(): void {
    this.later(closeMs, () => {
      if (!this.shown?.pinned) this.set(null);
    });
  }

  /** Whatever was about to happen does not. */
  stay(): void {
    clearTimeout(this.timer);
  }

  /** The word lost the focus, or is no longer in the page. */
  gone(anchor: HTMLElement | null): void {
    if (anchor !== null && this.shown?.anchor === anchor) this.close();
  }

  close(): void {
    this.stay();
    if (this.shown !== null) this.set(null);
  }

  private later(ms: number, act: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, ms);
  }

  private set(shown: Shown | null): void {
    this.shown = shown;
    for (const listener of this.listeners) listener();
  }
}
