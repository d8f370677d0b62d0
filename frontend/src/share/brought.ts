// SPDX-License-Identifier: GPL-2.0-or-later
/** Detects a viewer's answers in the URL fragment; a link from another device contains them. */

import { useEffect, useState } from 'react';
import { answersMark } from '../navigation/place.ts';

/** The part of the address from `#` on if it brings answers, otherwise null; and a function that removes it. */
export function useBrought(): readonly [string | null, () => void] {
  // The page soon removes this part from its own address, so the part is kept here.
  const [hash, setHash] = useState(() => location.hash);
  useEffect(() => {
    const look = () => setHash(location.hash);
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  const remove = () => {
    setHash('');
    history.replaceState(history.state, '', location.pathname + location.search);
  };
  return [hash.startsWith(answersMark) ? hash : null, remove];
}
