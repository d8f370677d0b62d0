// SPDX-License-Identifier: GPL-2.0-or-later
/** Marks a box that scrolls while something in it lies below its lower edge, so that style sheets can show it. */

import { useCallback } from 'react';

/** Less is a rounded border, nothing to scroll to. */
const leastPx = 4;

/** For the `ref` of the box: it has `data-below` while there is more below. */
export function useBelow(): (box: HTMLElement) => () => void {
  return useCallback((box: HTMLElement) => {
    const look = () =>
      box.toggleAttribute(
        'data-below',
        box.scrollHeight - box.clientHeight - box.scrollTop > leastPx,
      );
    const sizes = new ResizeObserver(look);
    const watch = () => {
      sizes.disconnect();
      for (const one of [box, ...box.children]) sizes.observe(one);
      look();
    };
    const parts = new MutationObserver(watch);
    watch();
    parts.observe(box, { childList: true });
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      box.removeEventListener('scroll', look);
      parts.disconnect();
      sizes.disconnect();
    };
  }, []);
}
