// SPDX-License-Identifier: GPL-2.0-or-later
/** Assertions for bugs; expected failures are values elsewhere. */

/** End of a switch over a union: a new member fails to compile. */
export function assertNever(value: never): never {
  throw new Error(`a case is missing for ${JSON.stringify(value)}`);
}

/** Assert that a value exists; `what` names it in the error. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
