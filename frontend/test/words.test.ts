// SPDX-License-Identifier: GPL-2.0-or-later
/** The catalogues of the page's words have what the sources say: every text, no other, with the same values. */

import { existsSync, readFileSync } from 'node:fs';
import {
  isPluralElement,
  isSelectElement,
  isTagElement,
  type MessageFormatElement,
  parse,
  TYPE,
} from '@formatjs/icu-messageformat-parser';
import { expect, test } from 'vitest';
import { languages } from '../src/base/lang/tags.ts';
import { filesOf } from '../src/lang/parts.ts';
import {
  allSources,
  allWords,
  catalogueFiles,
  type Said,
  sourcesOf,
  unsaidIn,
  wordsIn,
} from '../tools/words.ts';

const said = allWords();
const translated = languages.map(({ tag }) => tag).filter((tag) => tag !== 'en');

/** File of the catalogue -> its words. */
function filesOfCatalogue(tag: string): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(catalogueFiles(tag))
      .filter(([, path]) => existsSync(path))
      .map(([name, path]) => [name, JSON.parse(readFileSync(path, 'utf8'))]),
  );
}

function catalogue(tag: string): Record<string, string> {
  return Object.assign({}, ...Object.values(filesOfCatalogue(tag)));
}

/** Names in braces and, of a text with elements, in tags. */
function valuesOf(text: string, { values, rich }: Pick<Said, 'values' | 'rich'>): string[] {
  if (values.length === 0) return [];
  const names = new Set<string>();
  const walk = (parts: readonly MessageFormatElement[]) => {
    for (const part of parts) {
      if (part.type === TYPE.literal || part.type === TYPE.pound) continue;
      names.add(part.value);
      if (isPluralElement(part) || isSelectElement(part))
        for (const option of Object.values(part.options)) walk(option.value);
      if (isTagElement(part)) walk(part.children);
    }
  };
  walk(parse(text, { ignoreTag: !rich }));
  return [...names].sort();
}

test('every text is given what stands in its braces', () => {
  for (const one of said)
    expect([one.at, valuesOf(one.text, one)]).toEqual([one.at, [...new Set(one.values)].sort()]);
});

test.each(translated)(
  '%s has every text of the page, and none that the page does not say',
  (tag) => {
    const words = catalogue(tag);
    expect(
      said.filter(({ text }) => !(text in words)).map(({ at, text }) => `${at} ${text}`),
    ).toEqual([]);
    const known = new Set(said.map(({ text }) => text));
    expect(Object.keys(words).filter((text) => !known.has(text))).toEqual([]);
  },
);

test.each(translated)(
  '%s has each text in the files of the parts that say it, and nowhere else',
  (tag) => {
    const wanted = new Map<string, Set<string>>();
    for (const [text, sources] of sourcesOf(said))
      for (const file of filesOf(sources))
        wanted.set(file, (wanted.get(file) ?? new Set()).add(text));
    const files = filesOfCatalogue(tag);
    for (const name of new Set([...Object.keys(files), ...wanted.keys()]))
      expect([name, Object.keys(files[name] ?? {}).toSorted()]).toEqual([
        name,
        [...(wanted.get(name) ?? [])].toSorted(),
      ]);
  },
);

test.each(translated)('%s says a text alike in each file that has it', (tag) => {
  const words = catalogue(tag);
  for (const own of Object.values(filesOfCatalogue(tag)))
    for (const [text, saying] of Object.entries(own))
      expect([text, words[text]]).toEqual([text, saying]);
});

test.each(translated)(
  '%s says nothing without words, and has no value that it is not given',
  (tag) => {
    const words = catalogue(tag);
    for (const one of said) {
      const text = words[one.text] ?? '';
      expect([one.text, text.trim() !== '' || one.text.trim() === '']).toEqual([one.text, true]);
      const unknown = valuesOf(text, one).filter((name) => !one.values.includes(name));
      expect([one.text, unknown]).toEqual([one.text, []]);
    }
  },
);

test('all words of the markup go through the catalogues, but for the name', () => {
  const unsaid = allSources().flatMap(({ name, path }) =>
    unsaidIn(readFileSync(path, 'utf8'), name),
  );
  expect(unsaid.filter((one) => !one.endsWith(' Kernel Duet'))).toEqual([]);
  expect(unsaidIn('<p title="Why">One of {two}</p>', 'a.tsx')).toEqual([
    'a.tsx:1 Why',
    'a.tsx:1 One of',
  ]);
});

test('a text that is put together before it is said is refused', () => {
  expect(() => wordsIn("t('a' + name)", 'a.ts')).toThrow('a.ts:1');
  expect(wordsIn("t('a {n}', { n })", 'a.ts')).toEqual([
    { text: 'a {n}', at: 'a.ts:1', values: ['n'], rich: false },
  ]);
});
