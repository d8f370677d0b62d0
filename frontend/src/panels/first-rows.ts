// SPDX-License-Identifier: GPL-2.0-or-later
/** A legend that would push lanes out of a low window shows its first rows; one press shows the rest. */

import { type RefObject, useLayoutEffect, useState } from 'react';

/** A legend of so many rows stands as it is: what it would give back is the row of the button. */
const freeRows = 3;
const firstRows = 2;

/**
 * How many signs stand in the first rows. Pure.
 *
 * @param tops where each sign begins, px, in their order
 * @returns null where all signs are shown
 */
export function signsShown(tops: readonly number[]): number | null {
  const rows = [...new Set(tops)];
  const beyond = rows[firstRows];
  return rows.length <= freeRows || beyond === undefined ? null : tops.indexOf(beyond);
}

/**
 * The same for a list on the page, measured anew when its width or its signs change.
 *
 * @param on whether the window is low
 */
export function useFirstRows(
  list: RefObject<HTMLElement | null>,
  on: boolean,
  signs: string,
): number | null {
  const [shown, setShown] = useState<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies(signs): other signs have other widths
  useLayoutEffect(() => {
    const { current } = list;
    const around = current?.parentElement;
    if (!on || !current || !around) {
      setShown(null);
      return;
    }
    const measure = () => {
      current.dataset['measured'] = '';
      const items = [...current.children].filter((item) => item instanceof HTMLElement);
      setShown(signsShown(items.map((item) => item.offsetTop)));
      delete current.dataset['measured'];
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(around);
    return () => observer.disconnect();
  }, [list, on, signs]);
  return shown;
}
