// SPDX-License-Identifier: GPL-2.0-or-later

import { describe, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { wholeMessage } from '../../test/fixtures/whole.ts';
import type { ChangedMessage } from '../protocol/messages.ts';
import { changeable, madeFrom, reuseUnchanged, withChange } from './changes.ts';
import { Store } from './store.ts';

describe('changes', () => {
  function changed(change: Partial<ChangedMessage>): ChangedMessage {
    return {
      ...wholeMessage('changed', { lesson: 'l', base: 'srcu', arm: 'own-1', phase: 'wait' }),
      ...change,
    };
  }

  it('the newest word of each changed arm counts', () => {
    const store = new Store();
    store.dispatch(changed({}));
    store.dispatch(changed({ base: 'rwsem', arm: 'own-2', phase: 'link' }));
    store.dispatch(changed({ phase: 'compile', done: 2, total: 9 }));
    expect(store.changes.get().map(({ arm, phase }) => [arm, phase])).toEqual([
      ['own-2', 'link'],
      ['own-1', 'compile'],
    ]);
  });

  it('the end of a replaced change does not end the one that replaced it', () => {
    const now = withChange([], changed({ arm: 'own-2', phase: 'compile' }));
    expect(withChange(now, changed({ arm: 'own-1', phase: 'failed' }))).toBe(now);
    expect(withChange(now, changed({ arm: 'own-2', phase: 'failed' }))[0]?.phase).toBe('failed');
    // Another change of the arm was refused. It is shown because it was the viewer's last request.
    expect(withChange(now, changed({ arm: '', phase: 'refused' }))[0]?.phase).toBe('refused');
  });

  it('a lesson that comes again with one more arm keeps its steps, kinds and recordings', () => {
    const before = testLesson();
    const again = structuredClone(before);
    const own = { ...again.arms[1]!, name: 'own-1', title: 'your change', optional: true };
    const next = reuseUnchanged(before, {
      ...again,
      arms: [...again.arms, own],
      ready: { 'own-1': true },
    });
    expect(next.arms.map((arm) => arm.name)).toEqual(['rwsem', 'srcu', 'own-1']);
    expect(next.ready).toEqual({ 'own-1': true });
    expect(next.scenes).toBe(before.scenes);
    expect(next.kinds).toBe(before.kinds);
    expect(next.lit).toBe(before.lit);
    expect(reuseUnchanged({ ...before, slug: 'other' }, again)).toBe(again);
  });
});

describe('own', () => {
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
});
