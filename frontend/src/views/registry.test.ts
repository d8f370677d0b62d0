// SPDX-License-Identifier: GPL-2.0-or-later
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ViewKind } from './contract.ts';
import { allViews, collectViews, loadAllViews, loadOwnView, loadView } from './registry.ts';

const kind = (name: string) => ({ view: { kind: name } as ViewKind });

test('views are found by looking; a module without one is passed over', () => {
  const views = collectViews({ './a/index.tsx': kind('hog-rows'), './b/index.tsx': {} });
  expect([...views.keys()]).toEqual(['hog-rows']);
});

test('two views of one kind stop the page', () => {
  expect(() =>
    collectViews({ './a/index.tsx': kind('hog-rows'), './b/index.tsx': kind('hog-rows') }),
  ).toThrow("two views call themselves 'hog-rows': ./b/index.tsx");
});

describe('a page that has just begun', () => {
  beforeEach(() => vi.resetModules());

  test('has the general views, and loads the view of a lesson from its folder', async () => {
    const fresh = await import('./registry.ts');
    expect([...fresh.allViews().keys()]).toEqual(['timeline']);
    expect(() => fresh.viewOf('hog-rows')).toThrow("no view of kind 'hog-rows'");
    const view = await fresh.loadView({ slug: '02-grace-periods', view: 'hog-rows' });
    expect(view?.kind).toBe('hog-rows');
    expect(fresh.viewOf('hog-rows')).toBe(view);
    expect([...fresh.allViews().keys()]).toEqual(['timeline', 'hog-rows']);
  });

  test('looks into other lessons for a view that the lesson does not bring', async () => {
    const fresh = await import('./registry.ts');
    const view = await fresh.loadView({ slug: '07-borrows', view: 'inode-flow' });
    expect(view?.kind).toBe('inode-flow');
    expect(await fresh.loadView({ slug: '07-borrows', view: 'no-such-view' })).toBeNull();
  });
});

test('all views can be loaded, and a folder without a view is passed over', async () => {
  await loadOwnView('99-no-such-lesson');
  const all = await loadAllViews();
  expect(all.size).toBeGreaterThanOrEqual(6);
  expect(allViews()).toBe(all);
  expect(await loadView({ slug: '01-shrinker-bitmaps', view: 'timeline' })).toBe(
    all.get('timeline'),
  );
});
