// SPDX-License-Identifier: GPL-2.0-or-later
/** Copies a text to the clipboard, and says how it went. */

import { useState } from 'react';

export type Copied = 'idle' | 'copied' | 'refused';

/** How long a button says what it has done, where it says so for a while. */
export const copiedMs = 4000;

/**
 * How the last copy went, and what copies; `refused`: the browser gives this page no clipboard.
 * @param forMs after which it is idle again; null: never
 */
export function useCopy(forMs: number | null): readonly [Copied, (text: string) => Promise<void>] {
  const [copied, setCopied] = useState<Copied>('idle');
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied('copied');
    } catch {
      setCopied('refused');
    }
    if (forMs !== null) setTimeout(() => setCopied('idle'), forMs);
  };
  return [copied, copy];
}
