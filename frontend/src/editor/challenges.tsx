// SPDX-License-Identifier: GPL-2.0-or-later
/** The place of a lesson's challenges in the pane that changes its patch; nothing while a lesson has none. */

import type { ReactNode } from 'react';

interface Props {
  /** What is asked, each with its own button; they come with the lesson. */
  readonly children?: ReactNode;
}

export function Challenges({ children }: Props) {
  if (!children) return null;
  return (
    <section className="change-challenges" aria-label="Challenges" data-testid="challenges">
      {children}
    </section>
  );
}
