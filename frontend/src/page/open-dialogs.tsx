// SPDX-License-Identifier: GPL-2.0-or-later
/** The dialogs of a lesson page. They are loaded when the first of them opens, or after the first picture. */

import { t } from '../base/lang/t.ts';
import { toRun } from '../navigation/navigation.ts';
import { lessonAddress } from '../navigation/place.ts';
import { CaveatDialog, HelpDialog } from '../panels/dialogs.tsx';
import { RecapDialog } from '../panels/recap/recap.tsx';
import { RecordsDialog } from '../panels/records.tsx';
import { LensList, LossList } from '../panels/state-strip.tsx';
import { SavedRunsDialog } from '../runs/saved-runs.tsx';
import { ShareDialog } from '../share/share-dialogs.tsx';
import { useHello } from '../store/hooks.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { LessonModel } from './use-lesson-page.ts';

interface DialogsProps {
  readonly page: LessonModel;
  /** Whether a slide asks the step's question now. */
  readonly asks: boolean;
}

export function OpenDialogs({ page, asks }: DialogsProps) {
  const { lesson, dialog, records, server, go } = page;
  const close = () => page.setDialog(null);
  return (
    <>
      <HelpDialog keys={page.keys} open={dialog === 'help'} onClose={close} />
      <CaveatDialog lesson={lesson} keys={page.keys} open={dialog === 'caveats'} onClose={close} />
      <Recap page={page} onClose={close} />
      <ShareDialog
        lesson={lesson}
        answers={page.answers}
        address={page.address}
        asks={asks || page.guess.veiled ? 'now' : page.guess.prediction ? 'can' : 'never'}
        slide={page.place.present !== null}
        open={dialog === 'share'}
        onClose={close}
      />
      <Dialog title={t('Lost events')} open={dialog === 'losses'} onClose={close} testId="losses">
        <LossList lanes={page.losses} />
      </Dialog>
      <SavedRunsDialog
        lesson={lesson}
        open={dialog === 'runs'}
        shown={server.run?.run_id ?? null}
        onPlay={(id) => {
          close();
          go(toRun(id));
        }}
        onClose={close}
      />
      <Dialog title={t('Lenses')} open={dialog === 'lens'} onClose={close} testId="lens-sheet">
        <LensList lanes={page.lenses} />
      </Dialog>
      <RecordsDialog
        lesson={lesson}
        runId={server.run?.run_id ?? ''}
        behind={records}
        recorded={page.recorded}
        onClose={() => page.setRecords(null)}
      />
    </>
  );
}

function Recap({ page, onClose }: { readonly page: LessonModel; readonly onClose: () => void }) {
  const { lesson, dialog, site } = page;
  const lessons = useHello()?.lessons ?? [];
  // An exported site contains one lesson, even if the server that exported it listed several.
  const next = site ? undefined : lessons[lessons.findIndex((l) => l.slug === lesson.slug) + 1];
  return (
    <RecapDialog
      lesson={lesson}
      answers={page.answers}
      open={dialog === 'recap'}
      next={
        next
          ? {
              question: next.question,
              address: lessonAddress(next.slug),
            }
          : null
      }
      onStep={page.step}
      onQuestions={() => page.toggle('questions', true)}
      onClose={onClose}
    />
  );
}
