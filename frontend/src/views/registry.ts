// SPDX-License-Identifier: GPL-2.0-or-later
/** Every kind of view that has a folder here or in a lesson. A lesson names its kind. */

import type { ViewKind } from './contract.ts';

type Modules = Readonly<Record<string, { readonly view?: ViewKind }>>;

/** Kind -> view; two folders with one kind are a mistake that stops the page. */
export function collectViews(modules: Modules): ReadonlyMap<string, ViewKind> {
  const views = new Map<string, ViewKind>();
  for (const [path, { view }] of Object.entries(modules)) {
    if (view === undefined) continue;
    if (views.has(view.kind)) throw new Error(`two views call themselves '${view.kind}': ${path}`);
    views.set(view.kind, view);
  }
  return views;
}

const modules = import.meta.glob(['./*/index.tsx', '../../../lessons/*/view/index.tsx'], {
  eager: true,
}) as Modules;
let found: ReadonlyMap<string, ViewKind> | null = null;

/** All there are. Looked up late: a view's panels use hooks that use this file. */
export function allViews(): ReadonlyMap<string, ViewKind> {
  found ??= collectViews(modules);
  return found;
}

/** The view of a kind. Throws, naming the kinds there are. */
export function viewOf(kind: string): ViewKind {
  const view = allViews().get(kind);
  if (view === undefined) {
    throw new Error(`no view of kind '${kind}'; there are: ${[...allViews().keys()].join(', ')}`);
  }
  return view;
}
