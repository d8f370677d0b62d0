// SPDX-License-Identifier: GPL-2.0-or-later
/** Guesses and answers of this viewer, as state that outlives a reload. */

import { useCallback, useState } from 'react';
import { type Kept, readKept, writeKept } from './predict.ts';

export function useKept(slug: string): readonly [Kept, (kept: Kept) => void] {
  const [kept, setKept] = useState(() => readKept(slug));
  const keep = useCallback(
    (next: Kept) => {
      writeKept(slug, next);
      setKept(next);
    },
    [slug],
  );
  return [kept, keep];
}
