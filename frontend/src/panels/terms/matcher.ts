// SPDX-License-Identifier: GPL-2.0-or-later
/** Finds the terms of a lesson in a text; the server's lint has the same rule (lessons/terms.py). */

import type { Term } from '../../protocol/lesson.ts';

/** A text in pieces: plain words, and forms of terms. */
export type Piece = string | { readonly name: string; readonly text: string };

export interface Matcher {
  readonly terms: ReadonlyMap<string, Term>;
  /** The first form of each term that `seen` does not have yet becomes a piece, and is added to it. */
  readonly split: (text: string, seen: Set<string>) => readonly Piece[];
}

export function matcherOf(terms: readonly Term[]): Matcher | null {
  const owner = new Map<string, string>();
  for (const term of terms)
    for (const form of [term.name, ...term.also]) owner.set(form.toLowerCase(), term.name);
  if (owner.size === 0) return null;
  const forms = terms.flatMap((term) => [term.name, ...term.also]);
  const longestFirst = forms.toSorted((a, b) => b.length - a.length).map(either);
  const any = new RegExp(`(?<![\\w-])(?:${longestFirst.join('|')})(?![\\w-])`, 'g');
  return {
    terms: new Map(terms.map((term) => [term.name, term])),
    split: (text, seen) => {
      const pieces: Piece[] = [];
      let from = 0;
      for (const { 0: found, index } of text.matchAll(any)) {
        const name = owner.get(found.replaceAll(/\s+/g, ' ').toLowerCase());
        if (name === undefined || seen.has(name)) continue;
        seen.add(name);
        if (index > from) pieces.push(text.slice(from, index));
        pieces.push({ name, text: found });
        from = index + found.length;
      }
      if (from < text.length) pieces.push(text.slice(from));
      return pieces;
    },
  };
}

/** What is written small may begin a sentence; a space may be the end of a line. */
function either(form: string): string {
  const [first = '', ...rest] = form;
  const small = first !== first.toUpperCase();
  const tail = rest
    .join('')
    .replaceAll(/[-.*+?^$|()[\]{}\\]/g, '\\$&')
    .replaceAll(' ', '\\s+');
  return `${small ? `[${first}${first.toUpperCase()}]` : first}${tail}`;
}
