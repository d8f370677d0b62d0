// SPDX-License-Identifier: GPL-2.0-or-later
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, test } from 'vitest';
import { Message } from './message.ts';

const catalogues = import.meta.glob<Record<string, string>>(
  ['../../lang/*/*.json', '../../**/lang/*.json', '../../../../lessons/*/view/lang/*.json'],
  { eager: true, import: 'default' },
);
/** Values of each kind that the texts take: numbers for plurals, names of options, and words. */
const given = [0, 1, 2, 5, 1234, 'yes', 'no', 'word'];

function parts(text: string, locale: string, values: object, tags: boolean): unknown {
  try {
    return new Message(text, locale, tags).parts(values as Record<string, unknown>).join('|');
  } catch {
    return 'invalid';
  }
}

function expected(text: string, locale: string, values: object, tags: boolean): unknown {
  try {
    const format = new IntlMessageFormat(text, locale, undefined, { ignoreTag: !tags });
    const found = format.format(values as Record<string, string>) as unknown;
    return (Array.isArray(found) ? found : [found]).join('|');
  } catch {
    return 'invalid';
  }
}

/** The names of arguments and tags in a text, each with a value; tags get a function. */
function valuesOf(text: string, value: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [, name = ''] of text.matchAll(/\{\s*(\w+)/g)) found[name] = value;
  for (const [, name = ''] of text.matchAll(/<([a-z][\w-]*)>/gi))
    found[name] = (words: readonly unknown[]) => `[${words.join('')}]`;
  return found;
}

describe('a message', () => {
  test.each(Object.entries(catalogues))(
    'of %s is what a complete library makes of it',
    (file, texts) => {
      const locale = /(de|zh-Hans)[./]/.exec(file)?.[1] ?? 'en';
      for (const [english, text] of Object.entries(texts))
        for (const value of given)
          for (const [words, language] of [
            [english, 'en'],
            [text, locale],
          ] as const)
            for (const tags of [true, false]) {
              const values = valuesOf(words, value);
              const got = parts(words, language, values, tags);
              if (got !== expected(words, language, values, tags))
                expect([words, value, got]).toEqual([
                  ...[words, value, expected(words, language, values, tags)],
                ]);
            }
    },
  );

  test.each([
    ["it''s {n}", "it's 2"],
    ["it's, '{'n'}' and ''", "it's, {n} and '"],
    ["{n, plural, one {'#' #} other {# '{#}'}}", '2 {#}'],
    ['a < b, 2 <3, <b>x {n}</b>', 'a < b, 2 <3, [x 2]'],
  ])('%s has quotes and tags like those of ICU', (text, said) => {
    const values = valuesOf(text, 2);
    expect(parts(text, 'en', { n: 2, ...values }, true)).toBe(said);
    expect(expected(text, 'en', { n: 2, ...values }, true)).toBe(said);
  });

  test.each([
    '{',
    '}',
    '{n',
    '{n, plural, one {x}}',
    '{n, date}',
    '<b>x',
    '<b>x</i>',
    'x</b>',
    '{n, select, other {x}',
  ])('%s is invalid', (text) => {
    expect(() => new Message(text, 'en', true)).toThrow('should have');
  });

  test('without a value it is refused, and other values stay parts of their own', () => {
    const message = new Message('a {n} b', 'en', true);
    expect(() => message.parts({})).toThrow('no value of n');
    const node = { type: 'b' };
    expect(message.parts({ n: node })).toEqual(['a ', node, ' b']);
    expect(message.parts({ n: null })).toEqual(['a  b']);
  });
});
