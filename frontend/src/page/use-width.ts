// SPDX-License-Identifier: GPL-2.0-or-later
/** How a lesson is laid out: a desk, a text that scrolls beside its picture, or one column. */

import { useMedia } from '../ui/parts.tsx';

/**
 * `middle`: a column of text beside a picture that stays, 300 px and 520 px at least. `narrow`: no room for both.
 * What stands at which place follows from it, so it is no matter of style sheets alone.
 */
export type Width = 'wide' | 'middle' | 'narrow';

export function useWidth(): Width {
  const narrow = useMedia('(max-width: 889px)');
  const desk = useMedia('(min-width: 1001px)');
  return narrow ? 'narrow' : desk ? 'wide' : 'middle';
}
