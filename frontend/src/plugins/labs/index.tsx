// SPDX-License-Identifier: GPL-2.0-or-later
/** Labs: a lesson as an assignment, with tasks and points. */

import { lazy, Suspense } from 'react';
import { t } from '../../base/lang/t.ts';
import { withWords } from '../../lang/load.ts';
import type { Plugin } from '../../plugins.tsx';
import { readLab } from './address.ts';
import { LabArea, LabGate } from './lab-panel.tsx';

const ScoresPage = lazy(() =>
  withWords('plugins/labs/scores', () => import('./scores/scores-page.tsx')).then((m) => ({
    default: m.ScoresPage,
  })),
);

export const plugin: Plugin = {
  name: 'labs',
  OverLesson: LabArea,
  pageOf: (search, place, go) => {
    const asked = readLab(search);
    if (asked?.scores)
      return (
        <Suspense fallback={<p role="status">{t('Loading the scores…')}</p>}>
          <ScoresPage lab={asked.lab} />
        </Suspense>
      );
    return asked === null || place.lesson !== null ? null : <LabGate lab={asked.lab} go={go} />;
  },
};
