// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import type { ViewKind } from './contract.ts';
import { collectViews } from './registry.ts';

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
