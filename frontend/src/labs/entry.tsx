// SPDX-License-Identifier: GPL-2.0-or-later
/** What pages show of labs. An exported site has site.tsx in its place. */

import { lazy } from 'react';
import { withWords } from '../lang/load.ts';

export { LabArea, LabGate } from './lab-panel.tsx';

export const ScoresPage = lazy(() =>
  withWords('scores', () => import('./scores-page.tsx')).then((m) => ({ default: m.ScoresPage })),
);
