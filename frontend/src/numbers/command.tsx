// SPDX-License-Identifier: GPL-2.0-or-later
/** A command to copy into a terminal. */

import { useState } from 'react';

export function measureCommand(slug: string): string {
  return `./duet measure ${slug}`;
}

/** A command to copy; where the clipboard is closed it can still be marked. */
export function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <p className="command">
      <code>{text}</code>
      <button
        type="button"
        className="button"
        data-testid="copy-command"
        onClick={async () => {
          try {
            await navigator.clipboard.writeText(text);
            setCopied(true);
            setTimeout(() => setCopied(false), 4000);
          } catch {
            setCopied(false);
          }
        }}
      >
        {copied ? 'copied' : 'copy'}
      </button>
    </p>
  );
}
