// SPDX-License-Identifier: GPL-2.0-or-later
/** What the shells of a lesson share: run, moment, prediction, questions, dialogs and keys. */

import { useEffect, useMemo, useState } from 'react';
import { siteOf } from '../base/site.ts';
import { useRoom } from '../classroom/hooks.tsx';
import { useOwnGo } from '../classroom/use-follow.ts';
import { useInClass } from '../classroom/use-in-class.ts';
import { usePointClass } from '../classroom/use-point-class.ts';
import { type Act, keyList, useKeys, windowKeys } from '../controls/keyboard.ts';
import { playbackActs } from '../controls/transport.tsx';
import { unaligned } from '../derive/align.ts';
import type { Behind } from '../derive/behind.ts';
import type { Mark } from '../derive/types.ts';
import {
  linkTo,
  recordingInstead,
  stepAfter,
  togglePane,
  toStep,
  type Wanted,
} from '../navigation/navigation.ts';
import type { Pane, Place } from '../navigation/place.ts';
import { type Go, useIdle, useNavigation, useSettled } from '../navigation/use-navigation.ts';
import { useAnswers } from '../panels/predict.ts';
import { useKernel, useLenses, useLosses } from '../panels/state-strip.tsx';
import { type Playback, usePlayback, useRunIndex, useSentence } from '../playback/hooks.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { contendedOf } from '../runs/runs-line.tsx';
import { useTheme } from '../ui/theme.ts';
import { behindOf } from './marks.ts';
import { type Guess, useGuess } from './use-guess.ts';
import { useQuestions } from './use-questions.ts';
import { useRunActions } from './use-run-actions.ts';
import { useServer } from './use-server.ts';

export interface LessonProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
  /** See firstRun. */
  readonly first: Wanted;
}

export type DialogName = 'recap' | 'help' | 'caveats' | 'losses' | 'lens' | 'runs';

/** Keys of what the bare page does not have; those of its steps are the deck's that it stands in. */
const ofReaders: ReadonlySet<Act> = new Set<Act>([
  'step-back',
  'step-on',
  'words',
  'questions',
  'knobs',
  'present',
]);

/** Keys that mean nothing before there are events. */
const ofTime: ReadonlySet<Act> = new Set<Act>([
  'toggle',
  'backwards',
  'beat-back',
  'beat-on',
  'event-back',
  'event-on',
  'long-wait',
  'divergence',
  'loss',
  ...windowKeys.map(({ act }) => act),
]);

export type LessonModel = ReturnType<typeof useLessonPage>;

export function useLessonPage(props: LessonProps) {
  const { lesson, scene, arms, place, visit, first } = props;
  const go = useOwnGo(props.go, place);
  const { led, open: member, classroom } = useRoom();
  const theme = useTheme();
  const server = useServer(lesson.slug);
  const index = useRunIndex();
  const plain = usePlayback('page');
  const own = usePlayback();
  const whole = useSettled(index);
  const nav = useNavigation(
    { lesson, scene, place, visit, index, whole, runs: server },
    { playback: plain, go: props.go, first },
  );
  const [answers, save] = useAnswers(lesson.slug);
  // The moment of a driver is nothing that a member has sought: the question comes first.
  const sought = led ? { ...place, moment: null } : place;
  const guess = useGuess({ lesson, scene, place: sought }, answers, save);
  const playback = behindVeil(own, guess);
  const { veiled } = guess;
  // After the navigation's effects: a step begins where it looks, and stands there.
  useEffect(() => plain.veil(veiled), [plain, veiled]);
  const questions = useQuestions(lesson, index, answers, save, usePointClass(lesson));
  const [placesOf, showPlaces] = useState<string | null>(null);
  const ready = nav.settled && !nav.awaiting && !nav.coming;
  const seen = { lesson, scene, arms, place, run: nav.runName, ready, veiled, playback: plain };
  const inClass = useInClass(seen, index);
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const [records, setRecords] = useState<Behind | null>(null);
  /** Whoever sees the stage goes on seeing it: the curtain does not come back over the own run. */
  const stayOpen = () => {
    if (!guess.veiled) guess.reveal();
  };
  const actions = useRunActions({ ...props, go }, server, stayOpen);
  const moving = playback.state.mode !== 'paused';
  const open = server.connection.state === 'open';
  useIdle(nav.whole && !moving && !nav.coming && !actions.goesOn && open);

  const toggle = (pane: Pane, shown?: boolean) =>
    go(togglePane(place.panes, pane, shown), 'replace');
  const step = (id: string, also: Partial<Place> = {}, how: 'push' | 'replace' = 'push') => {
    questions.ask(null);
    const to = lesson.scenes.find((one) => one.id === id) ?? scene;
    const run = to === scene ? place.run : recordingInstead(lesson, to, server.run);
    go({ ...toStep(lesson, scene, actions.placed, id), run, ...also }, how);
  };
  const stepBy = (by: 1 | -1) => {
    const to = stepAfter(lesson, scene, by);
    if (to !== null) step(to);
  };
  const pointing = {
    shown: placesOf,
    show: showPlaces,
    point: (number: number) => {
      const there = lesson.questions[number]?.step;
      if (there !== undefined && there !== scene.id) step(there);
      questions.ask(number);
      toggle('questions', true);
    },
  };
  const { embed } = place;
  const keys = useMemo(() => {
    const aligned = unaligned(lesson) === null;
    const all = keyList(lesson.operation.name, lesson.beat?.name, aligned, member);
    return embed ? all.filter(({ act }) => !ofReaders.has(act)) : all;
  }, [lesson, member, embed]);
  const acts: Record<Act, () => void> = {
    ...playbackActs(playback, theme),
    'step-back': () => stepBy(-1),
    'step-on': () => stepBy(1),
    scope: playback.scope,
    words: () => {
      if (!guess.veiled) toggle('words');
    },
    questions: () => toggle('questions'),
    caveats: () => setDialog('caveats'),
    knobs: () => toggle('knobs'),
    present: () =>
      go({ present: place.present === null ? 'slides' : null, slide: null }, 'replace'),
    deselect: () => {
      playback.select(null);
      questions.drop();
    },
    follow: () => classroom?.followAgain(),
    help: () => setDialog('help'),
  };
  useKeys(keys, (act) => {
    if (nav.settled || !ofTime.has(act)) acts[act]();
  });
  return {
    ...props,
    ...{ theme, server, index, playback, nav, guess, questions, actions, keys, acts, step, toggle },
    ...{ answers, save, dialog, setDialog, records, setRecords, go, inClass, pointing },
    moving,
    site: siteOf() !== null,
    recorded: server.run?.source === 'recorded',
    live: server.run?.source === 'live',
    sentence: useSentence(scene.sentence),
    losses: useLosses(lesson, arms),
    lenses: useLenses(lesson, arms),
    kernel: useKernel(),
    contended: contendedOf(lesson, server.run, server.shownLanes),
    onMark: (mark: Mark | null) => {
      playback.select(mark);
      if (inClass.pick(mark)) return;
      if (!mark || questions.point(mark, place.panes.includes('questions'))) return;
      playback.pause();
      setRecords(index && behindOf(index, playback.frame.get(), lesson, mark));
    },
    /** The link to the moment that is shown. */
    address: () => {
      const also = { step: scene.id, arms, present: null, slide: null, embed: false };
      return linkTo(playback.now(), { place, usual: nav.usual, run: nav.runName, also });
    },
  };
}

/** Behind the veil nothing plays; who starts the run does not want to guess. */
function behindVeil(playback: Playback, { veiled, reveal }: Guess): Playback {
  if (!veiled) return playback;
  const first = (act: () => void) => () => {
    reveal();
    act();
  };
  const { backwards, scope } = playback;
  return { ...playback, toggle: reveal, backwards: first(backwards), scope: first(scope) };
}
