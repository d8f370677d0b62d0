// SPDX-License-Identifier: GPL-2.0-or-later
/** Small components that many parts share: icons, the head of a table, disabled buttons, copying, and media queries. */

import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';

function Icon({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const PlayIcon = () => (
  <Icon>
    <path d="M5 3.2v9.6l7.5-4.8z" fill="currentColor" />
  </Icon>
);

export const PauseIcon = () => (
  <Icon>
    <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.4" />
  </Icon>
);

/** A pin, which is the icon of a selected mark. */
export const PointIcon = () => (
  <Icon>
    <path d="M8 14s4.2-4.4 4.2-7.6A4.2 4.2 0 0 0 3.8 6.4C3.8 9.6 8 14 8 14z" />
    <circle cx="8" cy="6.3" r="1.2" />
  </Icon>
);

export const PlayBackIcon = () => (
  <Icon>
    <path d="M11 3.2v9.6L3.5 8z" fill="currentColor" />
  </Icon>
);

export const EventBackIcon = () => (
  <Icon>
    <path d="M9.8 4.2 6 8l3.8 3.8" />
  </Icon>
);

export const EventForwardIcon = () => (
  <Icon>
    <path d="M6.2 4.2 10 8l-3.8 3.8" />
  </Icon>
);

export const BackIcon = () => (
  <Icon>
    <path d="M3.5 3.5v9M12.5 3.8v8.4L6.2 8z" />
  </Icon>
);

export const ForwardIcon = () => (
  <Icon>
    <path d="M12.5 3.5v9M3.5 3.8v8.4L9.8 8z" />
  </Icon>
);

/** A cross. It marks hazards and losses, so that their colour is not the only sign. */
export const CrossIcon = () => (
  <Icon>
    <path d="M4 4l8 8M12 4l-8 8" strokeWidth="2" />
  </Icon>
);

/** The logo: two staves, with the same moment marked in both staves. */
export function Mark() {
  return (
    <svg width="22" height="18" viewBox="0 0 22 18" fill="currentColor" aria-hidden="true">
      <rect x="0" y="2" width="8" height="4" rx="1.5" />
      <rect x="10" y="2" width="5" height="4" rx="1.5" />
      <rect x="0" y="12" width="3.5" height="4" rx="1.5" />
      <rect x="17" y="12" width="5" height="4" rx="1.5" />
      <rect x="6" y="13.5" width="9" height="1" opacity=".55" />
      <rect x="12.2" y="0" width="1.2" height="18" opacity=".9" />
    </svg>
  );
}

/** A filled disc means live, and a hollow square means recorded. The two signs differ in shape, not in colour. */
export const LiveSign = () => (
  <svg width="8" height="8" viewBox="0 0 8 8" aria-hidden="true">
    <circle cx="4" cy="4" r="4" fill="var(--ink)" />
  </svg>
);

export const RecordedSign = () => (
  <svg width="9" height="9" viewBox="0 0 9 9" aria-hidden="true">
    <rect x="1" y="1" width="7" height="7" fill="none" stroke="var(--ink)" strokeWidth="1.6" />
  </svg>
);

// The head of a table, with one word per column.

export function HeadRow({ heads }: { readonly heads: readonly string[] }) {
  return (
    <thead>
      <tr>
        {heads.map((head) => (
          <th key={head} scope="col">
            {head}
          </th>
        ))}
      </tr>
    </thead>
  );
}

// A link to the front page, for pages that contain no other link to it.

export function HomeLink() {
  return (
    <a className="brand" href="?" data-testid="home-link">
      <Mark /> Kernel Duet
    </a>
  );
}

// A disabled button states its reason in the tooltip and to screen readers.

interface Off {
  readonly disabled?: true;
  readonly title?: string;
  readonly 'aria-description'?: string;
}

/**
 * Attributes of a button that is disabled for a reason. If the reason is empty, the button is enabled. Spread these
 * attributes last, so that the reason replaces the button's title.
 */
export function off(why: string | null | undefined | false): Off {
  return why ? { disabled: true, title: why, 'aria-description': why } : {};
}

/** The reason that playback buttons are disabled. */
export const nothingYet = t('There are no events yet.');

// Copies a text to the clipboard, and reports the result.

export type Copied = 'idle' | 'copied' | 'refused';

/** Time for which a button says that the text was copied, ms. */
export const copiedMs = 4000;

/**
 * The result of the last copy, and a function that copies a text. `refused` means that the browser denies access to the
 * clipboard.
 *
 * @param forMs time until the result is reset to idle, ms; null to keep the result
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

// Whether a media query matches; false if the browser does not support media queries.

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
