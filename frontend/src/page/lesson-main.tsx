// SPDX-License-Identifier: GPL-2.0-or-later
/** The middle of a lesson page: what the picture is made of, controls of live runs, the stage and its legend. */

import { t } from '../base/lang/t.ts';
import { ActBar, HoldBar } from '../controls/act-bar.tsx';
import { RunControls } from '../controls/run-controls.tsx';
import { bestRecording, recordingId } from '../derive/recording.ts';
import { ChangeButton } from '../editor/entry.tsx';
import { equalRecording, recordedNs } from '../navigation/knobs.ts';
import { hasStep, toRun } from '../navigation/navigation.ts';
import { AxisLine } from '../panels/lane-header.tsx';
import { Legend } from '../panels/legend.tsx';
import { LaneErrors, Notices } from '../panels/notices.tsx';
import { StateStrip } from '../panels/state-strip.tsx';
import { WordsPanel } from '../panels/words-panel.tsx';
import { ContendedNotice, canCount, RunsLine } from '../runs/runs-line.tsx';
import { armStates, failedArms } from './arm-states.ts';
import { LessonStage } from './lesson-stage.tsx';
import { LessonToy, ToyTabs, toyOpen } from './lesson-toy.tsx';
import type { LessonModel } from './use-lesson-page.ts';
import { pendingWords } from './words.ts';

interface Props {
  readonly page: LessonModel;
}

export function LessonMain({ page }: Props) {
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
      {playing ? <LessonToy page={page} /> : <LessonStage page={page} />}
      {place.panes.includes('words') && (
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

/** A link may name a step that the lesson has no more. */
function UnknownStep({ page }: Props) {
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

function State({ page }: Props) {
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
      lenses={page.lenses}
      onLoss={() => setDialog('losses')}
      onLens={() => setDialog('lens')}
      onRuns={page.site ? undefined : () => setDialog('runs')}
      onControl={server.commands.control}
      tool={offersChange(page) ? null : <ChangeButton label={t('change the patch')} look="badge" />}
    />
  );
}

/** Whether the knobs or the patch are there, each with a button that opens the editor. */
function offersChange(page: LessonModel): boolean {
  return (hasKnobs(page) && !toyOpen(page)) || page.scene.show.includes('patch');
}

function hasKnobs({ scene, place }: LessonModel): boolean {
  return scene.show.includes('knobs') !== place.panes.includes('knobs');
}

/** Live runs of this server, to watch or to withdraw. */
function OtherRuns({ page }: Props) {
  const { lesson, scene, server, live, go } = page;
  if (!server.runs || page.site) return null;
  const best = bestRecording(lesson, scene);
  const equal = equalRecording(lesson, page.actions.knobs);
  const there = equal !== null && server.run?.run_id === recordingId(lesson, equal);
  return (
    <RunsLine
      lesson={lesson}
      runs={server.runs}
      shown={(server.pending ?? server.run)?.run_id ?? null}
      onWatch={(id) => go(toRun(id))}
      onCancel={server.commands.stop}
      onRecording={best && live ? () => go(toRun(best.name)) : null}
      onEqual={equal && !there ? () => go(toRun(equal.name)) : null}
    />
  );
}

function Controls({ page }: Props) {
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
      onKnobs={actions.turn}
      onRun={() => actions.begin()}
      onStop={actions.stop}
      onAgain={actions.again}
      tool={<ChangeButton label={t('change')} />}
    />
  );
}
