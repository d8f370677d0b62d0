// SPDX-License-Identifier: GPL-2.0-or-later
/** The page on which a lesson is read: story, stage, side panel and playback controls. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { afterwards, later } from '../base/later.tsx';
import { ActBar, HoldBar } from '../controls/act-bar.tsx';
import { Transport, useTransport } from '../controls/transport.tsx';
import { runOf } from '../derive/grid.ts';
import { bestRecording, recordingId, tableFor } from '../derive/recording.ts';
import { recordedNs } from '../navigation/knobs.ts';
import { hasStep, toRecording, toRun } from '../navigation/navigation.ts';
import { frontPage } from '../navigation/place.ts';
import { AxisLine } from '../panels/lane-header.tsx';
import { Legend } from '../panels/legend.tsx';
import { LaneErrors, Notices } from '../panels/notices.tsx';
import { knownArms, type Spoils } from '../panels/predict.ts';
import { StateStrip } from '../panels/state-strip.tsx';
import { ClockTerm, useMarked } from '../panels/terms/terms.tsx';
import { TopBar } from '../panels/top-bar.tsx';
import { OverLesson, Slot, useBeside } from '../plugins.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { ContendedNotice, canCount, RunsLine } from '../runs/runs-line.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Elapsed, plannedOf } from './deck/elapsed.tsx';
import { useTalk } from './deck/talk.ts';
import { LessonDialogs } from './lesson-dialogs.tsx';
import { LessonToy, ToyTabs, toyOpen } from './lesson-toy.tsx';
import { hasSide, Side } from './side-panel.tsx';
import { LessonStage } from './stage.tsx';
import { LessonSteps, LessonStory, useWidth } from './story.tsx';
import {
  armStates,
  comingOf,
  failedArms,
  type LessonModel,
  pendingWords,
} from './use-lesson-page.ts';

const RunControls = afterwards(() =>
  import('../controls/run-controls.tsx').then((m) => m.RunControls),
);
const WordsPanel = later(() => import('../panels/words-panel.tsx').then((m) => m.WordsPanel));

// Middle of a lesson page: badges of the run, controls for live runs, the stage and its legend.

interface LessonMainProps {
  readonly page: LessonModel;
}

function LessonMain({ page }: LessonMainProps) {
  const { lesson, scene, place, index, playback, theme, server, actions } = page;
  const { run, commands } = server;
  const playing = toyOpen(page);
  return (
    <main className="stage">
      <State page={page} />
      <Notices />
      <UnknownStep page={page} />
      <OtherRuns page={page} />
      <LaneErrors failed={failedArms(lesson, server)} />
      <ContendedNotice
        found={page.contended}
        offers={canCount(lesson, scene)}
        blocked={actions.running ? t('A live run is going on.') : actions.blocked}
        onCount={actions.beginOnCount}
      />
      {hasKnobs(page) && !playing && <Controls page={page} />}
      <ActBar lesson={lesson} run={run} onAct={commands.act} />
      <HoldBar
        {...{ lesson, run, control: server.control, holds: server.holds }}
        onHold={commands.hold}
      />
      <ToyTabs page={page} />
      {playing ? <LessonToy page={page} /> : <LessonStage page={page} reports />}
      {place.panes.includes('words') && !page.guess.veiled && (
        <WordsPanel
          sentence={page.sentence}
          onMark={page.onMark}
          onClose={() => page.toggle('words', false)}
        />
      )}
      {!playing && (
        <div className="stage-foot">
          <Legend {...{ lesson, scene, theme, index }} folds />
          <AxisLine lesson={lesson} index={index} playback={playback} />
        </div>
      )}
    </main>
  );
}

/** A notice that the link names a step that the lesson does not have. */
function UnknownStep({ page }: LessonMainProps) {
  const { lesson, place } = page;
  const { step } = place;
  if (step === null || hasStep(lesson, step)) return null;
  return (
    <div className="notices">
      <p className="notice" data-calm role="status" data-testid="unknown-step">
        {t('This lesson has no step “{step}”; its first step is shown.', { step })}
      </p>
    </div>
  );
}

function State({ page }: LessonMainProps) {
  const { arms, server, losses, setDialog } = page;
  return (
    <StateStrip
      run={server.run}
      kernel={page.kernel}
      lanes={arms.length}
      lost={losses.reduce((sum, lane) => sum + lane.events, 0)}
      gaps={losses.reduce((sum, lane) => sum + lane.gapRows, 0)}
      control={server.control}
      pending={server.pending ? pendingWords(server.pending) : ''}
      coming={toyOpen(page) ? '' : comingOf(page)}
      lenses={page.lenses}
      onLoss={() => setDialog('losses')}
      onLens={() => setDialog('lens')}
      onRuns={page.site ? undefined : () => setDialog('runs')}
      onControl={server.commands.control}
      tool={offersChange(page) ? null : <Slot part="Tool" given={{ at: 'state' }} />}
    />
  );
}

/** Whether knobs or a patch are visible; both contain a button for changing the patch. */
function offersChange(page: LessonModel): boolean {
  return (hasKnobs(page) && !toyOpen(page)) || page.scene.show.includes('patch');
}

/** Whether the card of the step's prediction shows the curve that answers it. */
function hasCurveInStory({ guess }: LessonModel): boolean {
  return guess.prediction?.crossing != null && (guess.guess !== null || guess.revealed);
}

function hasKnobs({ scene, place }: LessonModel): boolean {
  return scene.show.includes('knobs') !== place.panes.includes('knobs');
}

/** Live runs on this server, with buttons to watch or cancel them. */
function OtherRuns({ page }: LessonMainProps) {
  const { lesson, scene, server, live, go } = page;
  if (!server.runs || page.site) return null;
  const best = bestRecording(lesson, scene);
  const equal = runOf(lesson, page.actions.knobs);
  const there = equal !== null && server.run?.run_id === recordingId(lesson, equal);
  return (
    <RunsLine
      lesson={lesson}
      runs={server.runs}
      shown={(server.pending ?? server.run)?.run_id ?? null}
      onWatch={(id) => go(toRun(id))}
      onCancel={server.commands.stop}
      onRecording={best && live ? () => go(toRecording(best.name)) : null}
      onEqual={equal && !there ? () => go(toRun(equal.name)) : null}
    />
  );
}

function Controls({ page }: LessonMainProps) {
  const { lesson, server, live, actions } = page;
  return (
    <RunControls
      lesson={lesson}
      knobs={actions.knobs}
      shown={server.run}
      recorded={recordedNs(server.run, page.index)}
      live={live}
      running={actions.running}
      armStates={armStates(lesson, server)}
      blocked={actions.blocked}
      values={actions.values}
      onKnobs={actions.turn}
      onRun={() => actions.begin()}
      onStop={actions.stop}
      onAgain={actions.again}
      clockTitle={<ClockTerm clock={actions.knobs.clock}>{t('clock')}</ClockTerm>}
      tool={<Slot part="Tool" given={{ at: 'knobs' }} />}
    />
  );
}

// For instructors: what to say at this step, and the elapsed time compared with the lesson's plan.

interface StepNotesProps {
  readonly lesson: Pick<Lesson, 'slug' | 'scenes'>;
  readonly scene: Pick<Scene, 'id' | 'notes'>;
  /** Time at which the page was opened, ms. */
  readonly opened: number;
}

function StepNotes({ lesson, scene, opened }: StepNotesProps) {
  const marked = useMarked();
  const [since, restart] = useTalk(lesson.slug, opened);
  return (
    <div data-testid="class-notes">
      <p className="class-clock small">
        <Elapsed since={since} planned={plannedOf(lesson.scenes, scene.id)} onRestart={restart} />
      </p>
      {scene.notes ? (
        <div className="prose small">
          <Markdown {...marked}>{scene.notes}</Markdown>
        </div>
      ) : (
        <p className="quiet small">{t('This step has no notes.')}</p>
      )}
    </div>
  );
}

interface LessonPageProps {
  readonly page: LessonModel;
}

/** A viewer who started the run themselves sees all parts, even those that answer a later question. */
const nothing: Spoils = () => false;

export function LessonPage({ page }: LessonPageProps) {
  const { lesson, scene, arms, index, theme, live, place, go, playback, actions, acts } = page;
  const { measured } = page.server;
  const [opened] = useState(() => Date.now());
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
  const changing = useBeside();
  const width = useWidth();
  const known = veiled ? knownArms(lesson, scene) : null;
  const side = hasSide(lesson, scene, spoils, known) && (
    <Side
      {...{ lesson, scene, arms, index, theme, place, go }}
      recorded={page.recorded}
      known={known}
      spoils={spoils}
      curveInStory={hasCurveInStory(page)}
      measured={tableFor(measured, lesson, scene, actions.knobs)}
      blocked={
        actions.running ? t('A live run is going on; measuring would disturb it.') : actions.blocked
      }
      onMeasure={actions.measure}
      onKnob={actions.turnOne}
    />
  );
  const besideLanes = <Slot part="BesideLanes" given={{}} />;
  const picture = (
    <>
      <LessonMain page={page} />
      {width === 'wide' && side}
      {width !== 'narrow' && besideLanes}
      <Transport {...transport} />
    </>
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
        onShare={acts.share}
        onPresent={acts.present}
        onHelp={acts.help}
        tool={<Slot part="InTopBar" given={{ lesson }} />}
      />
      <OverLesson
        page={page}
        inLesson={page.inLesson}
        notes={<StepNotes {...{ lesson, scene, opened }} />}
      />
      <LessonStory
        {...{ page, width, changing }}
        side={width === 'middle' && side}
        picture={width === 'narrow' && picture}
      />
      {width !== 'narrow' && picture}
      {width === 'narrow' && besideLanes}
      {width === 'narrow' && side}
      {width === 'narrow' && <LessonSteps page={page} />}
      <LessonDialogs page={page} />
    </div>
  );
}
