// SPDX-License-Identifier: GPL-2.0-or-later
/** Components whose code is loaded after the first picture. */

import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { afterPicture, firstPicture } from './first-picture.ts';
import { siteOf } from './site.ts';

const loads = new Set<() => Promise<unknown>>();

/** Load the code of all components made by `later`, including components that the loaded code makes. For tests. */
export async function loadLater(): Promise<void> {
  for (const load of loads) await load();
}

export type Later<P> = ComponentType<P> & { readonly load: () => Promise<unknown> };

/**
 * Returns a component whose code is loaded when it is first shown, or when the browser is idle after the first picture.
 * Code that has been loaded is rendered without a fallback.
 *
 * @param fallback what is shown while the code is loading
 * @param when 'picture' if an exported site draws its first picture before it loads the code of the shown component
 */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback: (props: P) => ReactNode = () => null,
  when: 'shown' | 'picture' = 'shown',
): Later<P> {
  let ready: ComponentType<P> | null = null;
  const once = async () => {
    ready ??= await load();
    return { default: ready };
  };
  loads.add(once);
  // If loading fails here, the code is loaded again when the component is shown.
  afterPicture(() => once().catch(() => undefined));
  const Lazy = lazy(async () => {
    if (when === 'picture' && siteOf() !== null) await firstPicture;
    return once();
  }) as unknown as ComponentType<P>;
  function Shown(props: P) {
    // A component that is shown keeps its type, because another type would lose its state.
    const [Code] = useState(() => ready ?? Lazy);
    if (Code === ready) return <Code {...props} />;
    return (
      <Suspense fallback={fallback(props)}>
        <Code {...props} />
      </Suspense>
    );
  }
  return Object.assign(Shown, { load: once });
}

/** Like `later`, for parts beside the picture: an exported site draws its first picture first. */
export function afterwards<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback?: (props: P) => ReactNode,
): Later<P> {
  return later(load, fallback, 'picture');
}
