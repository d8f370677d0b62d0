// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The modal dialog itself, which is loaded when a dialog first opens. When it opens, it focuses the element with `data-first`, or by default the close button. Escape
 * closes the dialog, and the element that previously had the focus gets the focus again.
 */

import { Dialog as Radix } from 'radix-ui';
import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { t } from '../base/lang/t.ts';

export interface Props {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly side?: 'centre' | 'right' | 'wide';
  readonly testId?: string;
  /** Further keys that close the dialog. The same keys open it. */
  readonly closedBy?: readonly string[];
  readonly children: ReactNode;
}

const none: readonly string[] = [];

export function Modal({ title, open, onClose, side = 'centre', testId, ...more }: Props) {
  const { closedBy = none, children } = more;
  /**
   * The element that had the focus before. Radix only restores the focus to its own trigger elements, and this page
   * uses none.
   */
  const opener = useRef<Element | null>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const { ctrlKey, metaKey, altKey, key, target } = event;
    if (ctrlKey || metaKey || altKey || !closedBy.includes(key)) return;
    if (target instanceof Element && target.closest('input, select, textarea')) return;
    event.preventDefault();
    onClose();
  };
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="veil" />
        <Radix.Content
          className="dialog"
          data-side={side}
          data-testid={testId}
          aria-describedby={undefined}
          onKeyDown={onKeyDown}
          onOpenAutoFocus={(event) => {
            opener.current = document.activeElement;
            const content = event.target instanceof Element ? event.target : null;
            const first = content?.querySelector<HTMLElement>('[data-first]');
            if (!first) return;
            event.preventDefault();
            first.focus({ preventScroll: true });
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            const { current } = opener;
            if (current instanceof HTMLElement) current.focus({ preventScroll: true });
          }}
        >
          <header>
            <Radix.Title asChild>
              <h2>{title}</h2>
            </Radix.Title>
            <Radix.Close className="button">{t('close')}</Radix.Close>
          </header>
          <div className="body">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
