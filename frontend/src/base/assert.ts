// SPDX-License-Identifier: GPL-2.0-or-later
/** Assertions that detect bugs. Expected failures are values, not exceptions. */

/** The default case of a switch over a union. If the switch lacks a member of the union, the code does not compile. */
export function assertNever(value: never): never {
  throw new Error(`a case is missing for ${JSON.stringify(value)}`);
}

/** Return a value that must exist; `what` names it in the error. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
