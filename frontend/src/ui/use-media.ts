// SPDX-License-Identifier: GPL-2.0-or-later
/** Whether a media query holds now; false where there are none. */

import { useEffect, useState } from 'react';

export function useMedia(query: string): boolean {
  const now = () => typeof matchMedia === 'function' && matchMedia(query).matches;
  const [holds, setHolds] = useState(now);
  useEffect(() => {
    const list = typeof matchMedia === 'function' ? matchMedia(query) : null;
    const listen = () => setHolds(list?.matches ?? false);
    listen();
    list?.addEventListener('change', listen);
    return () => list?.removeEventListener('change', listen);
  }, [query]);
  return holds;
}
