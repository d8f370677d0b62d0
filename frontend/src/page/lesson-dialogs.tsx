// SPDX-License-Identifier: GPL-2.0-or-later
/** The dialogs of a lesson page, and the sentence that screen readers announce. */

import { useState } from 'react';
import { later } from '../base/later.tsx';
import { useBrought } from '../share/brought.ts';
import type { LessonModel } from './use-lesson-page.ts';

const OpenDialogs = later(() => import('./open-dialogs.tsx').then((m) => m.OpenDialogs));

const BroughtDialog = later(() =>
  import('../share/share-dialogs.tsx').then((m) => m.BroughtDialog),
);

interface DialogsProps {
  readonly page: LessonModel;
  /** Whether a slide asks the step's question now. */
  readonly asks?: boolean;
}

export function LessonDialogs({ page, asks = false }: DialogsProps) {
  const [brought, forget] = useBrought();
  const [asked, setAsked] = useState(false);
  if (!asked && (page.dialog !== null || page.records !== null)) setAsked(true);
  return (
    <>
      {asked && <OpenDialogs page={page} asks={asks} />}
      {brought && <BroughtDialog lesson={page.lesson} hash={brought} onClose={forget} />}
      <p className="hidden-text" aria-live="polite" data-testid="spoken">
        {page.moving ? '' : `${page.scene.title}. ${page.sentence}`}
      </p>
    </>
  );
}
