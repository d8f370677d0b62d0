// SPDX-License-Identifier: GPL-2.0-or-later
/** The catalogue of views says of each name what it is, and has no name that the view lacks. */

import { describe, expect, it } from 'vitest';
import { allViews } from '../src/views/registry.ts';
import { wrongIn } from '../tools/views.ts';

describe.each([...allViews()])('%s', (kind, view) => {
  it('has a text for each of its names, and no other', () => expect(wrongIn(view)).toEqual([]));

  it('is refused with a name that has no text, and with a text that has no name', () => {
    const sentences = { ...view.sentences, fresh: () => '' };
    const about = { ...view.about, answers: { ...view.about.answers, gone: 'of yesterday' } };
    expect(wrongIn({ ...view, sentences, about })).toEqual([
      `the sentence of ${kind} 'fresh' has no text in about.ts`,
      `about.ts has a text for the answer of ${kind} 'gone', which does not exist`,
    ]);
  });

  it('describes itself in whole sentences', () => {
    expect(view.about.draws).toMatch(/^[A-Z].*\.$/);
    expect(view.about.needs.length).toBeGreaterThan(0);
  });
});
