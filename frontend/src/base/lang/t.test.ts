// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, describe, expect, test } from 'vitest';
import { formatCount, formatNs, plural } from '../units.ts';
import { inLanguage, setLessonTranslations } from './overlay.ts';
import { speak, t } from './t.ts';
import { directionOf, firstOf, tagOf } from './tags.ts';

afterEach(() => {
  speak('en', {});
  setLessonTranslations({});
});

describe('the words of the page', () => {
  test('are English without a catalogue, with plurals and values', () => {
    expect(t('Start')).toBe('Start');
    const text = '{n, plural, one {# hog} other {# hogs}} of {all}';
    expect(t(text, { n: 1, all: '9' })).toBe('1 hog of 9');
    expect(t(text, { n: 1234, all: '9' })).toBe('1,234 hogs of 9');
  });

  test('are those of the catalogue, and English where it has none or a broken one', () => {
    speak('de', {
      Start: 'Los',
      '{n, plural, one {# lane} other {# lanes}}': '{n, plural, one {# Spur} other {# Spuren}}',
      'the {side}': 'die {side',
    });
    expect(t('Start')).toBe('Los');
    expect(t('Stop')).toBe('Stop');
    expect(t('{n, plural, one {# lane} other {# lanes}}', { n: 1234 })).toBe('1.234 Spuren');
    expect(t('the {side}', { side: 'first' })).toBe('the first');
  });

  test('have the numbers of their language', () => {
    expect([formatCount(12916), formatNs(5.2e6)]).toEqual(['12,916', '5.2 ms']);
    speak('de', { '{one}s': '{one}s' });
    expect([formatCount(12916), formatNs(5.2e6)]).toEqual(['12.916', '5,2 ms']);
    expect(plural(9, 'Hog')).toBe('9 Hogs');
    speak('zh-Hans', { '{one}s': '{one}' });
    expect(plural(9, 'hog')).toBe('9 hog');
  });

  test('are longer and run from right to left in the language for tests', () => {
    speak('ar-XB', {});
    expect(t('Start')).toBe('\u202eStaart\u202c');
    expect(directionOf('ar-XB')).toBe('rtl');
  });
});

test('a language tag means a language that the page has, or none', () => {
  expect(['de-AT', 'DE', 'zh', 'zh-CN', 'zh-TW', 'en-GB', 'fr', '', '?'].map(tagOf)).toEqual([
    ...['de', 'de', 'zh-Hans', 'zh-Hans', null, 'en', null, null, null],
  ]);
  expect(firstOf(['fr', 'ar-XB', 'de-CH', 'en'])).toBe('de');
});

describe('the words of a lesson', () => {
  const lesson = {
    slug: 'one',
    title: 'Ticks',
    terms: [{ name: 'tick', also: ['ticks'] }],
    drawings: { tick: '<svg/>' },
  };

  test('are laid over it where it has a text, and the lesson stays as it came', () => {
    setLessonTranslations({
      one: [
        [['title'], 'Takte'],
        [['scenes', 0, 'title'], 'x'],
        [['slug', 'a'], 'x'],
      ],
    });
    expect(inLanguage(lesson)).toEqual({ ...lesson, title: 'Takte' });
    expect(lesson.title).toBe('Ticks');
  });

  test('take the drawing of a term along with its name', () => {
    setLessonTranslations({ one: [[['terms', 0, 'name'], 'Takt']] });
    expect(inLanguage(lesson).drawings).toEqual({ tick: '<svg/>', Takt: '<svg/>' });
  });

  test('are English where a lesson has none', () => {
    expect(inLanguage(lesson)).toBe(lesson);
  });
});
