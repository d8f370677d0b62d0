// SPDX-License-Identifier: GPL-2.0-or-later
/** The catalogue of views says of each name what it is, and has no name that the view lacks. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ViewKind } from '../src/views/contract.ts';
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

const own = import.meta.glob<{ readonly view: ViewKind }>('../../lessons/*/view/index.tsx', {
  eager: true,
});

// The words of an exported site are looked for by it (backend/src/duet/export/site.py).
it.each(Object.entries(own))('%s is the picture that its lesson names', (path, { view }) => {
  const lesson = fileURLToPath(
    new URL(path.replace('view/index.tsx', 'lesson.yaml'), import.meta.url),
  );
  expect(readFileSync(lesson, 'utf8')).toMatch(new RegExp(`^view: ${view.kind}$`, 'm'));
});
