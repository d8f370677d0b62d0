// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { afterEach, describe, expect, test } from 'vitest';
import { speak, t } from '../base/lang/t.ts';
import { withLang } from '../navigation/place.ts';
import { pageWords } from './catalogues.ts';
import { wantedLanguage, withWords } from './load.ts';
import { filesOf, page, partOf } from './parts.ts';

describe('load', () => {
  afterEach(() => speak('en', {}));

  test('a part that is loaded on demand comes after its words, which the page did not have', async () => {
    speak('de', await pageWords('de'));
    expect([t('next'), t('number'), t('scene')]).toEqual(['weiter', 'Zahl', 'scene']);
    expect(await withWords('gallery', async () => t('scene'))).toBe('Szene');
    expect(t('next')).toBe('weiter');
  });

  test('without words a part is English, and comes all the same', async () => {
    expect(await withWords('gallery', async () => t('scene'))).toBe('scene');
    speak('de', {});
    expect(await withWords('no-such-part', async () => t('scene'))).toBe('scene');
  });

  test('a text belongs to the part that alone says it, else to the page', () => {
    expect(partOf('plugins/x/index.tsx')).toBe('plugins/x');
    expect(partOf('plugins/x/later/page.tsx')).toBe('plugins/x/later');
    expect(partOf('gallery/gallery.tsx')).toBe('gallery');
    expect(partOf('lessons/07-x/view/model/y.ts')).toBe('lessons/07-x/view');
    expect(filesOf(['controls/transport.tsx'])).toEqual([page]);
    expect(filesOf(['runs/phase.ts', 'home/home.tsx'])).toEqual(['server']);
    expect(filesOf(['runs/phase.ts', 'page/story.tsx'])).toEqual([page]);
    expect(filesOf(['runs/phase.ts', 'gallery/gallery.tsx'])).toEqual(['server', 'gallery']);
  });

  test('what a plug-in says from its start, its later parts need not bring', () => {
    const [one, later] = ['plugins/x/a.ts', 'plugins/x/later/b.ts'];
    expect(filesOf([one, later])).toEqual(['plugins/x']);
    expect(filesOf([later, 'plugins/y/a.ts'])).toEqual(['plugins/x/later', 'plugins/y']);
  });

  test('a lesson’s picture brings what it says, unless the page has it: it knows no other lesson', () => {
    const [one, other] = ['lessons/07-x/view', 'lessons/08-y/view'];
    expect(filesOf([`${one}/draw.ts`, `${one}/toy.ts`])).toEqual([one]);
    expect(filesOf([`${one}/draw.ts`, `${other}/draw.ts`])).toEqual([one, other]);
    expect(filesOf([`${one}/draw.ts`, 'runs/phase.ts'])).toEqual(['server', one]);
    expect(filesOf([`${one}/draw.ts`, 'views/axis.ts'])).toEqual([page]);
  });
});

describe('choose', () => {
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
});
