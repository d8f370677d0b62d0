// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { withPageTerms } from './page-terms.ts';

const term = (name: string, ...also: string[]) => ({
  ...{ name, also, says: 'Its own.', drawing: '', entry: false, shared: false },
});

it('every lesson has the words of the page', () => {
  const names = withPageTerms([term('hog')]).map(({ name }) => name);
  expect(names).toEqual(['hog', 'arm', 'lane', 'count clock', 'wall clock']);
});

it("a lesson's own term goes before, also by another form", () => {
  const names = withPageTerms([term('strip', 'lanes')]).map(({ name }) => name);
  expect(names).toEqual(['strip', 'arm', 'count clock', 'wall clock']);
});
