// SPDX-License-Identifier: GPL-2.0-or-later
/** The address bar as state: a step is an entry of the history, a moment only replaces it. */

import { useCallback, useEffect, useState } from 'react';
import { type Place, readPlace, writePlace } from './place.ts';

export type Go = (change: Partial<Place>, how?: 'push' | 'replace') => void;

export function usePlace(): readonly [Place, Go] {
  const [place, setPlace] = useState(() => readPlace(location.search));
  useEffect(() => {
    const back = () => setPlace(readPlace(location.search));
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, []);
  const go = useCallback<Go>((change, how = 'push') => {
    setPlace((now) => {
      const next = { ...now, ...change };
      const url = location.pathname + writePlace(next, location.search);
      if (url !== location.pathname + location.search) {
        if (how === 'push') history.pushState(null, '', url);
        else history.replaceState(null, '', url);
      }
      return next;
    });
  }, []);
  return [place, go];
}
