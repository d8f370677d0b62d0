// SPDX-License-Identifier: GPL-2.0-or-later
/** Notifies listeners of changes. The interface fits useSyncExternalStore. */

export class Signal {
  #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  emit(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** A value that notifies listeners of changes. Readers get the same object until another value is set. */
export class Cell<T> extends Signal {
  #value: T;

  constructor(value: T) {
    super();
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.emit();
  }
}
