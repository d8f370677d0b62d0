// SPDX-License-Identifier: GPL-2.0-or-later
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { resolveName, resolveStep } from './typed.ts';

interface Cases {
  readonly lessons: readonly string[];
  readonly steps: readonly string[];
  readonly lesson: Readonly<Record<string, string | null>>;
  readonly step: Readonly<Record<string, string | null>>;
}

const file = new URL('../../../tests/fixtures/typed-links.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Cases;

test.each(Object.entries(cases.lesson))('the lesson "%s" is %s', (word, slug) => {
  expect(resolveName(word, cases.lessons)).toBe(slug);
});

test.each(Object.entries(cases.step))('the step "%s" is %s', (word, id) => {
  expect(resolveStep(word, cases.steps)).toBe(id);
});
