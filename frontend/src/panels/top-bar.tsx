// SPDX-License-Identifier: GPL-2.0-or-later
/** The header of a lesson with its tools: share, present, theme, keys. */

import type { ReactNode } from 'react';
import { t } from '../base/lang/t.ts';
import { LanguageMenu } from '../lang/menu.tsx';
import { copiedMs, Mark, useCopy } from '../ui/parts.tsx';
import { chooseTheme, useTheme } from '../ui/theme.ts';

export function ThemeButton() {
  const theme = useTheme();
  const other = theme.name === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className="button"
      onClick={() => chooseTheme(other)}
      aria-label={t('Switch to the {other} theme', { other })}
      data-testid="theme"
    >
      {other === 'light' ? t('light') : t('dark')}
    </button>
  );
}

/** Copies the address, which contains the lesson, step, moment, speed and arms. */
export function ShareButton({ address }: { readonly address: () => string }) {
  const [copied, copy] = useCopy(copiedMs);
  return (
    <span className="share">
      <button type="button" className="button" data-testid="share" onClick={() => copy(address())}>
        {copied === 'copied' ? t('link copied') : t('share')}
      </button>
      {copied === 'refused' && (
        <input
          className="share-link"
          readOnly
          value={address()}
          aria-label={t('Link to this moment')}
          ref={(field) => field?.select()}
        />
      )}
    </span>
  );
}

interface TopProps {
  readonly question: string;
  readonly address: () => string;
  readonly onFront: () => void;
  /** Opens the slides; absent if no slides are offered. */
  readonly onPresent?: () => void;
  /** Opens the dialog with the link; absent where the button copies the link at once. */
  readonly onShare?: () => void;
  readonly onHelp: () => void;
  /** A further button. */
  readonly tool?: ReactNode;
}

export function TopBar(props: TopProps) {
  const { question, address, onFront, onShare, onPresent, onHelp, tool } = props;
  return (
    <header className="top">
      <a
        className="brand"
        href="?"
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          onFront();
        }}
      >
        <Mark /> Kernel Duet
      </a>
      <h1>{question}</h1>
      <nav className="tools" aria-label={t('Page')}>
        {onShare ? (
          <button type="button" className="button" onClick={onShare} data-testid="share">
            {t('share')}
          </button>
        ) : (
          <ShareButton address={address} />
        )}
        {tool}
        {onPresent && (
          <button type="button" className="button" onClick={onPresent} data-testid="present-button">
            {t('present')}
          </button>
        )}
        <LanguageMenu />
        <ThemeButton />
        <button
          type="button"
          className="button"
          onClick={onHelp}
          aria-label={t('Keys')}
          data-testid="help-button"
        >
          ?
        </button>
      </nav>
    </header>
  );
}
