// SPDX-License-Identifier: GPL-2.0-or-later
/** Small tools of the header: theme, present, share, help. */

import { useState } from 'react';
import { chooseTheme, useTheme } from '../ui/theme.ts';

export function ThemeButton() {
  const theme = useTheme();
  const other = theme.name === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className="button"
      onClick={() => chooseTheme(other)}
      aria-label={`Switch to the ${other} theme`}
      data-testid="theme"
    >
      {other}
    </button>
  );
}

/** Copies the address, which holds lesson, step, moment, speed and arms. */
export function ShareButton({ address }: { readonly address: () => string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'shown'>('idle');
  return (
    <span className="share">
      <button
        type="button"
        className="button"
        data-testid="share"
        onClick={async () => {
          const url = address();
          try {
            await navigator.clipboard.writeText(url);
            setState('copied');
          } catch {
            setState('shown');
          }
          setTimeout(() => setState('idle'), 4000);
        }}
      >
        {state === 'copied' ? 'link copied' : 'share'}
      </button>
      {state === 'shown' && (
        <input
          className="share-link"
          readOnly
          value={address()}
          aria-label="Link to this moment"
          ref={(field) => field?.select()}
        />
      )}
    </span>
  );
}
