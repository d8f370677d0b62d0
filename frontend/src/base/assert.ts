// SPDX-License-Identifier: GPL-2.0-or-later
/** Bugs assert; expected failures are values elsewhere. */

/** The end of a switch over a union: a new member fails to compile. */
export function assertNever(value: never): never {
  throw new Error(`a case is missing for ${JSON.stringify(value)}`);
}

/** The value, which a reading of the code says is there. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
