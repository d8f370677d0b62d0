// SPDX-License-Identifier: GPL-2.0-or-later
/** The page of a class's report. An exported site has site.tsx in its place. */

import { lazy } from 'react';

export const ReportPage = lazy(() =>
  import('./report-page.tsx').then((m) => ({ default: m.ReportPage })),
);
