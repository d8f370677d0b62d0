// SPDX-License-Identifier: GPL-2.0-or-later
/** A window over the page: focus goes in, Escape closes, focus comes back. */

import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly side?: 'centre' | 'right' | 'wide';
  readonly testId?: string;
  readonly children: ReactNode;
}

export function Dialog({ title, open, onClose, side = 'centre', testId, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="veil" />
        <Radix.Content
          className="dialog"
          data-side={side}
          data-testid={testId}
          aria-describedby={undefined}
        >
          <header>
            <Radix.Title asChild>
              <h2>{title}</h2>
            </Radix.Title>
            <Radix.Close className="button">close</Radix.Close>
          </header>
          <div className="body">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
