// SPDX-License-Identifier: GPL-2.0-or-later
/** Text that follows the moment, a few times a second. */

import { useEffect, useState } from 'react';

const textEveryMs = 200;

/** Something calm to hang text on while the moment runs. */
export function useCalm(subscribe: (listener: () => void) => () => void): void {
  const [, again] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = subscribe(() => {
      timer ??= setTimeout(() => {
        timer = null;
        again((n) => n + 1);
      }, textEveryMs);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [subscribe]);
}
