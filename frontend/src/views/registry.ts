// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Registry of the views in this folder and in lessons. A lesson names a view by its kind. Views of lessons are loaded on
 * demand; `viewOf` returns a view that has been loaded.
 */

import { useEffect, useState } from 'react';
import type { ViewKind } from './contract.ts';

type Module = { readonly view?: ViewKind };
type Modules = Readonly<Record<string, Module>>;
type NamesView = { readonly slug: string; readonly view: string };

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

const general = import.meta.glob('./*/index.tsx', { eager: true }) as Modules;
const ofLessons = import.meta.glob<Module>('../../../lessons/*/view/index.tsx');
const loads = new Map<string, Promise<void>>();
let loaded: Modules = general;
let found: ReadonlyMap<string, ViewKind> | null = null;

/** Load the view in a lesson's folder. Folders without a view are ignored. Rejects if the code does not load. */
function load(path: string): Promise<void> {
  let loading = loads.get(path);
  if (loading === undefined) {
    const module = ofLessons[path]?.() ?? Promise.resolve({});
    loading = module.then(
      (view) => {
        loaded = { ...loaded, [path]: view };
        found = null;
      },
      (cause: unknown) => {
        loads.delete(path); // So a later call loads the view again.
        throw cause;
      },
    );
    loads.set(path, loading);
  }
  return loading;
}

/** Load the view in the folder of this lesson, if there is one. The lesson may still name another view. */
export async function loadOwnView(slug: string): Promise<void> {
  await load(`../../../lessons/${slug}/view/index.tsx`);
}

/** Load the view that a lesson names. Most lessons name the view in their own folder, so that folder comes first. */
export async function loadView({ slug, view }: NamesView): Promise<ViewKind | null> {
  if (!allViews().has(view)) await loadOwnView(slug).catch(() => undefined);
  if (!allViews().has(view)) await Promise.allSettled(Object.keys(ofLessons).map(load));
  return allViews().get(view) ?? null;
}

/** Load the views of all lessons. Rejects if the code of a view does not load. */
export async function loadAllViews(): Promise<ReadonlyMap<string, ViewKind>> {
  await Promise.all(Object.keys(ofLessons).map(load));
  return allViews();
}

/**
 * All loaded views by kind. They are collected at the first call, because panels of views use hooks that import this
 * file.
 */
export function allViews(): ReadonlyMap<string, ViewKind> {
  found ??= collectViews(loaded);
  return found;
}

/** The loaded view of this kind. Throws an error that lists the known kinds if the kind is unknown. */
export function viewOf(kind: string): ViewKind {
  const view = allViews().get(kind);
  if (view === undefined) {
    throw new Error(`no view of kind '${kind}'; there are: ${[...allViews().keys()].join(', ')}`);
  }
  return view;
}

/**
 * Load the view that a lesson names.
 *
 * @returns undefined while the view is loading or without a lesson; null if the page does not have the view
 */
export function useView(lesson: NamesView | null): ViewKind | null | undefined {
  const [missing, setMissing] = useState<string | null>(null);
  const { slug = '', view = '' } = lesson ?? {};
  const known = allViews().get(view);
  const wanted = lesson !== null && known === undefined;
  useEffect(() => {
    if (!wanted) return;
    let shown = true;
    void loadView({ slug, view }).then((came) => {
      // Setting any new value renders the component again, which then returns the loaded view.
      if (shown) setMissing(came === null ? view : '');
    });
    return () => {
      shown = false;
    };
  }, [wanted, slug, view]);
  return known ?? (wanted && missing === view ? null : undefined);
}
