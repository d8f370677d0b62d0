// SPDX-License-Identifier: GPL-2.0-or-later
/** How much larger than its own pixels an element is seen: slides are laid out small and scaled up. */

/** 1 where nothing is scaled, and before the first layout. */
export function magnified(element: Element): number {
  const own = element.clientWidth;
  const { width } = element.getBoundingClientRect();
  return own > 0 && width > 0 ? width / own : 1;
}
