// SPDX-License-Identifier: GPL-2.0-or-later
/** Says on the document when tests and screenshots may look. */

import { useEffect } from 'react';

/** `data-idle` of the root element: nothing moves and nothing is awaited. */
export function useIdle(idle: boolean): void {
  useEffect(() => {
    let off = false;
    document.documentElement.dataset['idle'] = 'false';
    if (idle) {
      const fonts = document.fonts?.ready ?? Promise.resolve();
      void fonts.then(() => {
        if (!off) document.documentElement.dataset['idle'] = 'true';
      });
    }
    return () => {
      off = true;
    };
  }, [idle]);
}
