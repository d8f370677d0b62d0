// SPDX-License-Identifier: GPL-2.0-or-later
/** The left side of a lesson page: the step in words, what does not fit it, its prediction and the questions. */

import { type ReactNode, useEffect } from 'react';
import { t } from '../base/lang/t.ts';
import { useAnswerClass } from '../classroom/use-answer-class.ts';
import { bestRecording, isSavedRun } from '../derive/recording.ts';
import { sceneKnobs } from '../navigation/knobs.ts';
import { toRun } from '../navigation/navigation.ts';
import { Questions } from '../panels/dialogs.tsx';
import { Discussion, Entry } from '../panels/discussion.tsx';
import { answersFile } from '../panels/predict.ts';
import { PredictCard } from '../panels/predict-card.tsx';
import { hasRecap, RecapCard } from '../panels/recap/recap.tsx';
import { Mismatch } from '../runs/runs-line.tsx';
import { ToyInvitation } from './lesson-toy.tsx';
import { StepNav } from './step-nav.tsx';
import { Story } from './story.tsx';
import type { LessonModel } from './use-lesson-page.ts';
import type { Width } from './use-width.ts';
import { notJudged } from './words.ts';

interface Props {
  readonly page: LessonModel;
}

interface StoryProps extends Props {
  readonly width: Width;
  /** Patch and evidence, where they stand below the text. */
  readonly side: ReactNode;
  /** A patch is being changed. */
  readonly changing: boolean;
}

export function LessonStory({ page, width, side, changing }: StoryProps) {
  const { lesson, scene, place, server, guess, answers, actions, acts } = page;
  const clock = server.run?.clock ?? actions.knobs.clock;
  const open = recapOf(page);
  return (
    <Story
      lesson={lesson}
      scene={scene}
      width={width}
      fixed={changing || actions.running}
      onReach={(id) => page.step(id, {}, 'replace')}
      asking={guess.asking}
      note={clock === 'count' ? (scene.on_count?.note ?? '') : ''}
      sentence={guess.veiled ? '' : page.sentence}
      recorded={page.recorded}
      answered={answers.answered.length}
      mismatch={<RunMismatch page={page} />}
      predict={<Prediction page={page} />}
      predicted={guess.predicted}
      entry={<Entry lesson={lesson} />}
      end={
        <>
          {open && <RecapCard lesson={lesson} onOpen={open} />}
          <Discussion slug={lesson.slug} discussion={lesson.discussion} />
        </>
      }
      onEnd={open}
      side={side}
      onStep={page.step}
      onCaveats={acts.caveats}
      onQuestions={acts.questions}
    >
      <ToyInvitation page={page} />
      {place.panes.includes('questions') && <LessonQuestions page={page} />}
    </Story>
  );
}

/** The way on, where it stands at the end of the page. */
export function LessonSteps({ page }: Props) {
  const { lesson, scene, step } = page;
  return <StepNav {...{ lesson, scene }} onStep={step} onEnd={recapOf(page)} />;
}

/** Opens the recap; null: the lesson has none. */
function recapOf({ lesson, setDialog }: LessonModel): (() => void) | null {
  return hasRecap(lesson) ? () => setDialog('recap') : null;
}

function RunMismatch({ page }: Props) {
  const { lesson, scene, arms, actions, live, go } = page;
  const { run } = page.server;
  if (run === null) return null;
  const best = bestRecording(lesson, scene);
  const title = (name: string) => lesson.arms.find((a) => a.name === name)?.title ?? name;
  return (
    <Mismatch
      lesson={lesson}
      scene={scene}
      run={run}
      missing={arms.filter((a) => !run.arms.includes(a)).map(title)}
      blocked={actions.running ? t('Your live run goes on.') : actions.blocked}
      onRun={() => actions.begin(sceneKnobs(lesson, actions.knobs, scene))}
      onRecording={(live || isSavedRun(run.run_id)) && best ? () => go(toRun(best.name)) : null}
    />
  );
}

function Prediction({ page }: Props) {
  const { lesson, scene, guess, contended } = page;
  const { prediction, answer, settle } = guess;
  const answerClass = useAnswerClass(scene);
  const blocked = prediction && notJudged(lesson, scene, prediction, page.server.run, contended);
  const truth = answer && blocked === '' && page.nav.whole ? answer.choice : null;
  useEffect(() => {
    if (truth !== null) settle(truth);
  });
  if (prediction === undefined) return null;
  return (
    <PredictCard
      prediction={prediction}
      guess={guess.guess}
      answer={answer}
      unfit={blocked ?? ''}
      plural={lesson.operation.plural}
      onGuess={(choice) => {
        guess.say(choice);
        answerClass(choice, truth === null ? null : truth === choice);
      }}
      onForget={guess.forget}
    />
  );
}

function LessonQuestions({ page }: Props) {
  const { lesson, scene, place, answers, questions, playback } = page;
  return (
    <Questions
      lesson={lesson}
      scene={scene.id}
      file={() => answersFile(lesson, answers)}
      answered={answers.answered}
      asking={questions.asking}
      said={questions.said}
      onAsk={(i) => {
        questions.ask(i);
        if (i === null) page.toggle('questions', false);
        else playback.pause();
      }}
      onStep={(id, i) => {
        page.step(id, { panes: place.panes });
        questions.ask(i);
      }}
      onForget={() => page.save({ ...answers, answered: [], marks: {} })}
    />
  );
}
