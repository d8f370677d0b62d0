// SPDX-License-Identifier: GPL-2.0-or-later
/** Registry of the views in this folder and in lessons. A lesson names a view by its kind. */

import type { ViewKind } from './contract.ts';

type Modules = Readonly<Record<string, { readonly view?: ViewKind }>>;

/** Map each kind to its view. Throws if two folders export the same kind. */
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

/** All views by kind. They are collected at the first call, because panels of views use hooks that import this file. */
export function allViews(): ReadonlyMap<string, ViewKind> {
  found ??= collectViews(modules);
  return found;
}

/** The view of this kind. Throws an error that lists the known kinds if the kind is unknown. */
export function viewOf(kind: string): ViewKind {
  const view = allViews().get(kind);
  if (view === undefined) {
    throw new Error(`no view of kind '${kind}'; there are: ${[...allViews().keys()].join(', ')}`);
  }
  return view;
}
