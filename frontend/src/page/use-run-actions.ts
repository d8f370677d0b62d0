// SPDX-License-Identifier: GPL-2.0-or-later
/** Live runs of a lesson page: the knobs as they stand, and to begin, end, repeat or measure a run with them. */

import { useMemo } from 'react';
import { useTrying } from '../classroom/use-trying.ts';
import { mayAct } from '../controls/act-bar.tsx';
import { useModel } from '../controls/run-controls.tsx';
import {
  type Knobs,
  knobPlace,
  knobsAt,
  onClock,
  runParams,
  withParam,
} from '../navigation/knobs.ts';
import { toKnobs, toNewRun } from '../navigation/navigation.ts';
import type { Place } from '../navigation/place.ts';
import type { Go } from '../navigation/use-navigation.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import type { Server } from './use-server.ts';
import { blockedWords } from './words.ts';

/** Fewer runs of an arm give no verdict. */
const repeats = 5;

const busyPhases: readonly RunMessage['phase'][] = [
  'preparing',
  'booting',
  'ready',
  'running',
  'draining',
];

interface Given {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
}

/** `onBegin`: a run with these knobs was asked for. */
export function useRunActions(
  { lesson, scene, arms, place, go }: Given,
  { run, pending, control, runs, connection, hello, commands }: Server,
  onBegin: () => void,
) {
  const { knobs: turned, clock, workload } = place;
  const placed = useMemo(
    () => knobsAt(lesson, scene, { knobs: turned, clock, workload }),
    [lesson, scene, turned, clock, workload],
  );
  useModel(lesson, placed);
  const knobs: Knobs = { ...placed, arms };
  const trying = useTrying(lesson.slug, scene.id);
  const goesOn = run?.source === 'live' && busyPhases.includes(run.phase);
  const own = runs?.live.find((one) => one.yours && one.purpose === 'explain') ?? null;
  /** The run that "stop" ends: what this visitor controls on the stage, else his own. */
  const stoppable =
    goesOn && control?.run_id === run.run_id && mayAct(control) ? run.run_id : own?.run_id;
  const choiceOf = (requested: Knobs) => ({
    lesson: lesson.slug,
    arms,
    workload: requested.workload,
    params: runParams(lesson, requested),
    clock: requested.clock,
  });
  const letGo = () => go(toNewRun, 'replace');
  const turn = (requested: Knobs) => go(toKnobs(lesson, scene, knobs, requested), 'replace');
  return {
    knobs,
    /** The knobs of the place alone: the arms are the step's. */
    placed,
    goesOn,
    running: pending?.source === 'live' || stoppable !== undefined,
    blocked: blockedWords(connection, hello),
    turn,
    /** One knob, to what the lesson allows of it. */
    turnOne: (name: string, value: number) => turn(withParam(lesson, knobs, name, value)),
    begin: (with_: Knobs = knobs) => {
      letGo();
      onBegin();
      commands.start(choiceOf(with_));
    },
    /** The knobs as they stand, with these arms: the page shows them from now on. */
    beginWith: (chosen: readonly string[]) => {
      go({ ...toNewRun, arms: chosen }, 'replace');
      onBegin();
      const choice = { ...choiceOf(knobs), arms: chosen };
      if (trying?.step.patches) trying.attempt(choice);
      else commands.start(choice);
    },
    /** A member tries the knobs as they stand; null: the step is not open for it. */
    attempt:
      trying === null
        ? null
        : () => {
            letGo();
            onBegin();
            trying.attempt(choiceOf(knobs));
          },
    /** The step as it stands, on the clock that a busy host cannot disturb. */
    beginOnCount: () => {
      const next = onClock(lesson, scene, knobs, 'count');
      go({ ...toNewRun, ...knobPlace(lesson, scene, next) }, 'replace');
      onBegin();
      commands.start({ ...choiceOf(next), workload: knobs.workload });
    },
    again: () => {
      letGo();
      commands.again();
    },
    stop: () => {
      if (stoppable !== undefined) commands.stop(stoppable);
    },
    measure: () => commands.measure(choiceOf(knobs), repeats),
  };
}
