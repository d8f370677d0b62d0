// SPDX-License-Identifier: GPL-2.0-or-later
/** Classes: students follow an instructor on their own screens, and answer there. */

import './classroom.css';
import { lazy, Suspense } from 'react';
import { t } from '../../base/lang/t.ts';
import { withWords } from '../../lang/load.ts';
import type { Plugin } from '../../plugins.tsx';
import { ShownBar } from './class-bar.tsx';
import { type ClassLesson, useClassLesson } from './class-lesson.tsx';
import { ClassArea, ClassOverlay } from './class-panel.tsx';
import { useFollowAway, useInCompare, useOwnGo } from './driver.ts';
import { ClassroomProvider, useClassLead } from './hooks.tsx';
import { ClassGate, JoinOnFront } from './join.tsx';
import { useAnswerClass, usePointClass } from './pointing.tsx';
import { ClassOnSlide, useClassAudience, useClassReveal } from './questions.tsx';
import { reportIn } from './report/address.ts';
import { ClassButton } from './start.tsx';
import { useTrying } from './tries.ts';

const ReportPage = lazy(() =>
  withWords('plugins/classroom/report', () => import('./report/report-page.tsx')).then((m) => ({
    default: m.ReportPage,
  })),
);

export const plugin: Plugin<ClassLesson> = {
  name: 'classroom',
  Around: ClassroomProvider,
  Everywhere: ({ place }) => (
    <>
      <ClassGate place={place} />
      <ClassOverlay />
    </>
  ),
  OnHome: JoinOnFront,
  InTopBar: ClassButton,
  OverLesson: ClassArea,
  OverComparison: ShownBar,
  OnSlide: ClassOnSlide,
  pageOf: (search) => {
    const report = reportIn(search);
    return report === null ? null : (
      <Suspense fallback={<p role="status">{t('Loading the report…')}</p>}>
        <ReportPage classId={report} />
      </Suspense>
    );
  },
  useGo: useOwnGo,
  useLead: useClassLead,
  useRuns: useTrying,
  useGuessed: useAnswerClass,
  useReveal: useClassReveal,
  useAudience: useClassAudience,
  usePointed: usePointClass,
  useLesson: useClassLesson,
  useComparison: useInCompare,
  useAwaited: useFollowAway,
};
