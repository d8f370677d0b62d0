// SPDX-License-Identifier: GPL-2.0-or-later
/** Predict, then check: what the viewer expected against what the events say. Pure, but for the keeping. */

/** Small things the viewer did, kept in this browser under one key per lesson. */
export interface Kept {
  readonly guesses: Readonly<Record<string, number>>;
  readonly answered: readonly number[];
}

const nothing: Kept = { guesses: {}, answered: [] };

export function readKept(slug: string): Kept {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(`duet.${slug}`) ?? 'null');
    if (typeof value !== 'object' || value === null) return nothing;
    const { guesses, answered } = value as Partial<Kept>;
    return {
      guesses: typeof guesses === 'object' && guesses !== null ? guesses : {},
      answered: Array.isArray(answered) ? answered.filter((n) => typeof n === 'number') : [],
    };
  } catch {
    return nothing;
  }
}

export function writeKept(slug: string, kept: Kept): void {
  try {
    localStorage.setItem(`duet.${slug}`, JSON.stringify(kept));
  } catch {
    // A full or forbidden store loses the memory, not the lesson.
  }
}
