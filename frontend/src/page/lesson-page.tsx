// SPDX-License-Identifier: GPL-2.0-or-later
/** The shell of a lesson that is read: story, stage, side and transport. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { ClassArea, ClassButton } from '../classroom/entry.tsx';
import { Transport, useTransport } from '../controls/transport.tsx';
import { tableFor } from '../derive/recording.ts';
import { ChangePane, useChanging } from '../editor/entry.tsx';
import { LabArea } from '../labs/entry.tsx';
import { frontPage } from '../navigation/place.ts';
import type { Spoils } from '../panels/predict.ts';
import { TopBar } from '../panels/top-bar.tsx';
import { ClassNotes } from './class-notes.tsx';
import { LessonDialogs } from './lesson-dialogs.tsx';
import { LessonMain } from './lesson-main.tsx';
import { LessonSteps, LessonStory } from './lesson-story.tsx';
import { hasSide, Side } from './side-panel.tsx';
import type { LessonModel } from './use-lesson-page.ts';
import { useWidth } from './use-width.ts';

interface Props {
  readonly page: LessonModel;
}

/** A run of one's own answers what one wants to know. */
const nothing: Spoils = () => false;

export function LessonPage({ page }: Props) {
  const { lesson, scene, arms, index, theme, live, place, go, playback, actions, acts } = page;
  const { measured } = page.server;
  const [since, setSince] = useState(() => Date.now());
  const { settled } = page.nav;
  const { veiled } = page.guess;
  const spoils = live ? nothing : page.guess.spoils;
  const given = {
    lesson,
    scene,
    index,
    theme,
    live,
    settled,
    veiled,
    askedLater: spoils('overview'),
    uncounted: spoils('counts'),
    onWords: acts.words,
  };
  const transport = useTransport(playback, given);
  const changing = useChanging();
  const width = useWidth();
  const side = hasSide(lesson, scene, spoils) && (
    <Side
      {...{ lesson, scene, arms, index, theme, place, go }}
      recorded={page.recorded}
      veiled={veiled}
      spoils={spoils}
      measured={tableFor(measured, lesson, scene, actions.knobs)}
      blocked={
        actions.running ? t('A live run is going on; measuring would disturb it.') : actions.blocked
      }
      onMeasure={actions.measure}
      onKnob={actions.turnOne}
    />
  );
  return (
    <div
      className="lesson"
      data-width={width}
      data-side={side ? undefined : 'none'}
      data-changing={changing ? '' : undefined}
      data-testid="lesson"
    >
      <TopBar
        question={lesson.question}
        address={page.address}
        onFront={() => go({ ...frontPage })}
        onPresent={acts.present}
        onHelp={acts.help}
        tool={<ClassButton lesson={lesson} />}
      />
      <ClassArea
        page={page}
        notes={<ClassNotes {...{ lesson, scene, since }} onRestart={() => setSince(Date.now())} />}
      />
      <LabArea page={page} />
      <LessonStory {...{ page, width, changing }} side={width === 'middle' && side} />
      <LessonMain page={page} />
      {width === 'wide' && side}
      <ChangePane />
      <Transport {...transport} />
      {width === 'narrow' && side}
      {width === 'narrow' && <LessonSteps page={page} />}
      <LessonDialogs page={page} />
    </div>
  );
}
