// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { withLang } from '../navigation/place.ts';
import { wantedLanguage } from './choose.ts';

afterEach(() => localStorage.clear());

test('the address decides, else what was chosen, else the browser, else English', () => {
  expect(wantedLanguage('', ['fr', 'de-CH'])).toBe('de');
  expect(wantedLanguage('', ['fr'])).toBe('en');
  localStorage.setItem('duet.lang', 'zh-Hans');
  expect(wantedLanguage('', ['de'])).toBe('zh-Hans');
  expect(wantedLanguage('?lang=en', ['de'])).toBe('en');
  expect(wantedLanguage('?lang=fr', ['de'])).toBe('zh-Hans');
  expect(wantedLanguage('?lang=%3Cscript%3E', [])).toBe('zh-Hans');
});

test('the language for tests is spoken where an address asks, and is never remembered', () => {
  localStorage.setItem('duet.lang', 'ar-XB');
  expect(wantedLanguage('', [])).toBe('en');
  expect(wantedLanguage('?lang=ar-XB', [])).toBe('ar-XB');
});

test('an address is the same place in another language', () => {
  expect(withLang('?lesson=a&step=b', 'de')).toBe('?lesson=a&step=b&lang=de');
  expect(withLang('?lang=de&lesson=a', null)).toBe('?lesson=a');
});
