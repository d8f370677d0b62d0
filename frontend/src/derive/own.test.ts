// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { changeable, madeFrom } from './own.ts';

it('an own arm is no arm to be changed, and knows what it was made from', () => {
  const lesson = testLesson();
  const srcu = lesson.arms[1]!;
  const own = {
    ...srcu,
    name: 'own-1',
    patch_texts: [...srcu.patch_texts, { file: 'c', subject: '', body: '', text: '+x' }],
  };
  const stock = { ...own, name: 'own-2', patch_texts: own.patch_texts.slice(1) };
  const all = { arms: [...lesson.arms, own, stock] };
  expect(changeable(all).map((arm) => arm.name)).toEqual(['rwsem', 'srcu']);
  expect(madeFrom(all, own)?.name).toBe('srcu');
  expect(madeFrom(all, stock)?.name).toBe('rwsem');
  expect(madeFrom(all, srcu)).toBeNull();
  const elsewhere = { ...srcu, name: 'own-rwsem-0123456789', patch_texts: [] };
  expect(madeFrom(all, elsewhere)?.name).toBe('rwsem');
});
