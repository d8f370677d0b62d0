// SPDX-License-Identifier: GPL-2.0-or-later
/** The page of a class's report. An exported site has site.tsx in its place. */

import { lazy } from 'react';
import { withWords } from '../lang/load.ts';

export const ReportPage = lazy(() =>
  withWords('report', () => import('./report-page.tsx')).then((m) => ({ default: m.ReportPage })),
);
