// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, expect, test } from 'vitest';
import { speak, t } from '../base/lang/t.ts';
import { pageWords } from './catalogues.ts';
import { withWords } from './load.ts';
import { fileOf, page, partOf } from './parts.ts';

afterEach(() => speak('en', {}));

test('a part that is loaded on demand comes after its words, which the page did not have', async () => {
  speak('de', await pageWords('de'));
  expect([t('next'), t('Join a class'), t('Polls')]).toEqual([
    'weiter',
    'An einer Klasse teilnehmen',
    'Polls',
  ]);
  expect(await withWords('report', async () => t('Polls'))).toBe('Umfragen');
  expect(t('next')).toBe('weiter');
});

test('without words a part is English, and comes all the same', async () => {
  expect(await withWords('report', async () => t('Polls'))).toBe('Polls');
  speak('de', {});
  expect(await withWords('no-such-part', async () => t('Polls'))).toBe('Polls');
});

test('a text belongs to the part that alone says it, else to the page', () => {
  expect(partOf('editor/pane.tsx')).toBe('editor');
  expect(partOf('editor/door.tsx')).toBe('server');
  expect(partOf('labs/scores-page.tsx')).toBe('scores');
  expect(fileOf(['views/memcg-wall/draw.ts', 'views/memcg-wall/toy.ts'])).toBe('memcg-wall');
  expect(fileOf(['views/memcg-wall/draw.ts', 'views/inode-flow/draw.ts'])).toBe(page);
  expect(fileOf(['controls/transport.tsx'])).toBe(page);
});
