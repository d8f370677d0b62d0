// SPDX-License-Identifier: GPL-2.0-or-later
/** A command to copy into a terminal. */

import { t } from '../base/lang/t.ts';
import { copiedMs, useCopy } from '../ui/parts.tsx';

/** A command to copy; where the clipboard is closed it can still be marked. */
export function Command({ text }: { readonly text: string }) {
  const [copied, copy] = useCopy(copiedMs);
  return (
    <p className="command">
      <code>{text}</code>
      <button
        type="button"
        className="button"
        data-testid="copy-command"
        onClick={() => copy(text)}
      >
        {copied === 'copied' ? t('copied') : t('copy')}
      </button>
    </p>
  );
}
