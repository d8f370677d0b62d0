// SPDX-License-Identifier: GPL-2.0-or-later
/** The state that all pages of a lesson share: run, moment, prediction, questions, dialogs and keys. */

import { useEffect, useMemo, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { mayAct } from '../controls/act-bar.tsx';
import { type Act, keyList, shareKey, useKeys, windowKeys } from '../controls/keyboard.ts';
import type { ArmState } from '../controls/run-controls.tsx';
import { playbackActs } from '../controls/transport.tsx';
import { useModel } from '../controls/use-model.ts';
import { unaligned } from '../derive/align.ts';
import { type Behind, behindMark } from '../derive/behind.ts';
import { neighbours, valuesOf } from '../derive/grid.ts';
import { laneOf } from '../derive/query.ts';
import { recordingId } from '../derive/recording.ts';
import type { Frame, Mark, RunIndex } from '../derive/types.ts';
import {
  type Knobs,
  knobPlace,
  knobsAt,
  knobWords,
  onClock,
  runParams,
  sceneParams,
  withParam,
} from '../navigation/knobs.ts';
import {
  linkTo,
  recordingInstead,
  stepAfter,
  togglePane,
  toKnobs,
  toNewRun,
  toStep,
  type Wanted,
} from '../navigation/navigation.ts';
import type { Pane, Place } from '../navigation/place.ts';
import { type Go, useIdle, useNavigation, useSettled } from '../navigation/use-navigation.ts';
import {
  type Answers,
  answeredBy,
  askingSteps,
  type Pointed,
  type Spoils,
  spoilersOf,
  useAnswers,
} from '../panels/predict.ts';
import { useKernel, useLenses, useLosses } from '../panels/state-strip.tsx';
import {
  type Playback,
  pointsAt,
  usePlayback,
  usePrediction,
  useRunIndex,
  useSentence,
} from '../playback/hooks.tsx';
import {
  type Reveal,
  useInLesson,
  useLead,
  useOwnGo,
  usePointed,
  useReveal,
  useRunTaker,
} from '../plugins.tsx';
import type { Lesson, Prediction, Scene } from '../protocol/lesson.ts';
import type { HelloMessage, ReadingMessage, RunMessage } from '../protocol/messages.ts';
import { prefetch } from '../protocol/site-socket.ts';
import type { Connection } from '../protocol/socket.ts';
import { buildPhase, lanePhase } from '../runs/phase.ts';
import { type Contended, contendedOf, unjudged } from '../runs/runs-line.tsx';
import {
  useBegun,
  useBuilds,
  useCommands,
  useConnection,
  useControl,
  useHello,
  useHolds,
  useLanes,
  useLost,
  useMeasured,
  usePendingRun,
  useReading,
  useRun,
  useRuns,
  useShownLanes,
} from '../store/hooks.tsx';
import { useTheme } from '../ui/theme.ts';
import { viewOf } from '../views/registry.ts';

// The prediction of a step: the viewer's guess, the answer, and whether the stage is covered until they have guessed.

const nobody: Pick<Answers, 'guesses'> = { guesses: {} };
const none: ReadonlySet<string> = new Set();
const nothing: Spoils = () => false;

function useGuess(
  { lesson, scene, place }: { lesson: Lesson; scene: Scene; place: Place },
  answers: Answers,
  save: (answers: Answers) => void,
  reveal: Reveal,
) {
  const answer = usePrediction(scene.predict);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const id = scene.predict ?? '';
  const prediction = scene.predict ? lesson.predictions[scene.predict] : undefined;
  const guess = scene.predict ? (answers.guesses[scene.predict] ?? null) : null;
  // A link to a moment reveals its step. Pausing also writes a moment into the address, but must not reveal the step.
  // If pausing revealed the step, it would open the evidence and shrink the lanes.
  const [linked] = useState(() => (place.moment === null ? null : scene.id));
  // Guesses that were made in this browser do not count on slides, because slides are shown to an audience.
  const [known, opened] = place.present === null ? [answers, seen] : [nobody, none];
  const looked = prediction === undefined || seen.has(scene.id) || reveal === 'revealed';
  const taught = reveal === 'later' || reveal === 'posed';
  const open = looked || (guess !== null && !taught);
  const { veiled, predicted } = coverOf(open, place);
  return {
    prediction,
    guess,
    answer,
    veiled,
    /** Whether a guess is made, but the instructor has not revealed the answer yet. */
    held: guess !== null && !open && veiled,
    /** Whether the instructor has shown the answer to everybody. */
    revealed: reveal === 'revealed',
    /** Which parts beside the picture would answer a later step's question. */
    spoils:
      place.embed || linked === scene.id
        ? nothing
        : spoilersOf(lesson, scene, known, opened, viewOf(lesson.view).tells),
    /** Whether the text that explains the answer may be shown. */
    predicted,
    /** The steps whose question is still open. */
    asking: askingSteps(lesson, answers, seen),
    /** Uncovers the stage without a guess; null if only the instructor may uncover it. */
    reveal: reveal === 'posed' ? null : () => setSeen(new Set([...seen, scene.id])),
    say: (choice: number) => save({ ...answers, guesses: { ...answers.guesses, [id]: choice } }),
    forget: () => {
      const { [id]: _gone, ...guesses } = answers.guesses;
      const { [id]: _old, ...truths } = answers.truths ?? {};
      save({ ...answers, guesses, truths });
    },
    /** Store the answer that a run gave, if the run was suitable for judging the guess. */
    settle: (truth: number) => {
      if (guess === null || answers.truths?.[id] === truth) return;
      save({ ...answers, truths: { ...answers.truths, [id]: truth } });
    },
  };
}

/**
 * Whether the stage is covered, and whether the text below the question is shown. If the address contains a moment, the
 * stage and the text are revealed.
 *
 * @param open whether nothing is asked, or the viewer has guessed or has skipped the question
 */
export function coverOf(
  open: boolean,
  place: Pick<Place, 'present' | 'embed' | 'moment'>,
): { veiled: boolean; predicted: boolean } {
  const sought = place.moment !== null;
  const veiled = !open && place.present === null && !place.embed && !sought;
  return { veiled, predicted: open || sought };
}

type Guess = ReturnType<typeof useGuess>;

// Describes a selected mark: for the drawer with its details, and for answers. Pure.

function pointedAt(index: RunIndex, mark: Mark): Pointed {
  const lane = laneOf(index, mark.arm);
  const guest = (t: number) => lane?.guestTime(t) ?? t;
  return {
    run: index.runId,
    arm: mark.arm,
    kind: index.kinds[mark.kind]?.name ?? '',
    t0_ns: guest(mark.t0),
    t1_ns: guest(mark.t1),
    at: new Date().toISOString(),
  };
}

/**
 * The data from which a mark was made, as the view explains them. A view without explanations uses the lane's tables.
 */
export function behindOf(index: RunIndex, frame: Frame, lesson: Lesson, mark: Mark): Behind | null {
  const own = viewOf(lesson.view).behind;
  return own ? own(index, frame, lesson, mark) : behindMark(index, lesson, mark);
}

// Questions that the viewer answers by selecting a mark.

function useQuestions(
  lesson: Lesson,
  index: RunIndex | null,
  answers: Answers,
  save: (answers: Answers) => void,
  /** Called with the question, the selected mark, and whether it is right. */
  pointed: (question: number, mark: Mark, right: boolean) => void,
) {
  const [asking, setAsking] = useState<number | null>(null);
  const [said, setSaid] = useState('');
  const ask = (question: number | null) => {
    setSaid('');
    setAsking(question);
  };
  /**
   * Use a mark as the answer to the current question. Returns false if the mark's drawer should open instead. `listed`:
   * whether the list of questions is open. If it is open and the viewer has not chosen a question, a notice asks them
   * to choose one, and no drawer covers the picture.
   */
  const point = (mark: Mark, listed: boolean): boolean => {
    const question = asking === null ? undefined : lesson.questions[asking];
    if (listed && asking === null && answers.answered.length < lesson.questions.length) {
      setSaid(t('Choose a question first, then point at its mark.'));
      return true;
    }
    if (!question || asking === null || !index) return false;
    const right = pointsAt(index, mark, question);
    pointed(asking, mark, right);
    if (right) {
      setSaid('');
      save(answeredBy(answers, asking, pointedAt(index, mark)));
      const next = lesson.questions.findIndex(
        (_q, i) => i > asking && !answers.answered.includes(i),
      );
      setAsking(next < 0 ? null : next);
    } else {
      const arm = lesson.arms.find((a) => a.name === mark.arm)?.title ?? mark.arm;
      const { operation } = lesson;
      const kind = mark.table === 'ops' ? operation.name : index.kinds[mark.kind]?.title;
      // A mark without a kind means that nothing has happened.
      const what =
        kind === undefined
          ? t('Nothing has happened to the mark')
          : t('That is “{kind}”', { kind });
      setSaid(t('{what} on {arm}. Look again.', { what, arm }));
    }
    return true;
  };
  return { asking, said, ask, point, drop: () => setAsking(null) };
}

// The complete state of a lesson page, derived from the server's messages, and the actions that change the state.

type Server = ReturnType<typeof useServer>;

function useServer(lesson: string) {
  return {
    run: useRun(),
    pending: usePendingRun(),
    begun: useBegun(),
    lost: useLost().lost,
    reading: useReading(),
    lanes: useLanes(),
    shownLanes: useShownLanes(),
    builds: useBuilds(lesson),
    measured: useMeasured(),
    control: useControl(),
    runs: useRuns(),
    holds: useHolds(),
    connection: useConnection(),
    hello: useHello(),
    commands: useCommands(),
  };
}

// The state of each arm of a lesson: kernel, guest, failure. Pure, except that it depends on the kind of page.

type Seen = Pick<Server, 'run' | 'pending' | 'lanes' | 'builds'>;

function laneAndBuild(name: string, { lanes, builds }: Seen) {
  const lane = lanes.find((l) => l.arm === name) ?? null;
  const build = builds.find((b) => b.arm === name) ?? null;
  return { lane, build };
}

export function armStates(lesson: Lesson, seen: Seen): ArmState[] {
  return lesson.arms.map(({ name }) => {
    if (siteOf()) return { name, words: '' };
    const { lane, build } = laneAndBuild(name, seen);
    const building = buildPhase(build)?.words;
    const built = (lesson.ready[name] ?? false) || build?.phase === 'done';
    const alive =
      lane && (seen.run?.source === 'live' || seen.pending) && lane.phase !== 'waiting'
        ? lanePhase(lane, build, false).words
        : '';
    const kernel = built ? t('kernel built') : t('not built yet: “run” builds the kernel');
    return { name, words: alive || building || kernel, copied: lane?.cloned ?? false };
  });
}

export function failedArms(lesson: Lesson, seen: Seen) {
  const recorded = seen.run?.source === 'recorded';
  return lesson.arms
    .map((arm) => {
      const { lane, build } = laneAndBuild(arm.name, seen);
      return { arm, phase: lanePhase(lane, build, recorded, seen.pending !== null) };
    })
    .filter(({ phase }) => phase.bad);
}

// Sentences about a run that is loading, in preparation, refused, or unfit for the step. Pure.

/** Progress of the recording that is loading; empty if none is loading. */
export function comingWords(
  reading: ReadingMessage | null,
  run: RunMessage | null,
  awaiting: boolean,
): string {
  if (reading === null || (!awaiting && reading.run_id !== run?.run_id)) return '';
  const share = reading.total > 0 ? Math.floor((100 * reading.read) / reading.total) : 0;
  return t('reading the recording…{share}', { share: share > 0 ? ` ${share} %` : '' });
}

/**
 * Progress of the recording that a page loads. Empty if none is loading, or while the page still looks for the
 * requested moment in the run.
 */
export function comingOf({ nav, server }: Pick<LessonModel, 'nav' | 'server'>): string {
  return nav.coming ? '' : comingWords(server.reading, server.run, nav.awaiting);
}

export function pendingWords(run: RunMessage): string {
  if (run.source === 'recorded') return t('loading another recording');
  return (
    run.message ||
    (run.phase === 'booting' ? t('guests are booting') : t('a live run is being prepared'))
  );
}

/** Why no live run can start now; empty if a run can start. */
function blockedWords(connection: Connection, hello: HelloMessage | null): string {
  if (connection.state !== 'open') return t('There is no connection to the server now.');
  if (hello?.live !== false) return '';
  return siteOf()
    ? t('This page plays a recording; it has no server that could run kernels.')
    : t('This server shows recordings only; its guests are switched off.');
}

/**
 * Why a prediction is not judged now; empty if it is judged. A prediction that a recorded table answers does not depend
 * on the run on the stage.
 */
export function notJudged(
  lesson: Lesson,
  scene: Scene,
  prediction: Prediction,
  run: RunMessage | null,
  contended: Contended | null,
): string {
  if (prediction.measured_on !== null || prediction.crossing != null) return '';
  return unfit(lesson, scene, prediction.params, run) || unjudged(contended, prediction);
}

/** Why the run on the stage cannot answer a prediction; empty if it can. */
export function unfit(
  lesson: Lesson,
  scene: Scene,
  params: Readonly<Record<string, number>>,
  run: RunMessage | null,
): string {
  const there = run === null ? params : sceneParams({ ...scene, params }, run.clock);
  const requested = Object.keys(params).map((k) => [k, there[k] ?? 0] as const);
  const wrong = requested.filter(([k, v]) => run !== null && run.params[k] !== v);
  if (wrong.length === 0) return '';
  return t('The run on the stage cannot answer this question: the question needs {list}.', {
    list: wrong.map(([k, v]) => knobWords(lesson, k, v)).join(', '),
  });
}

// Live runs of a lesson page: the current knobs, and actions that start, stop, repeat or measure a run with them.

/** Number of runs per arm in a measurement. Fewer runs would give no verdict. */
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

/** @param onBegin called when another run that the viewer wants replaces the run on the stage */
function useRunActions(
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
  const taker = useRunTaker(lesson.slug, scene.id);
  const goesOn = run?.source === 'live' && busyPhases.includes(run.phase);
  const own = runs?.live.find((one) => one.yours && one.purpose === 'explain') ?? null;
  /** The run that "stop" ends: the run on the stage if this visitor controls it, otherwise the visitor's own run. */
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
  /** Where no guest can run, the values of a knob that are recorded; otherwise null. */
  const values = hello?.live === false ? (name: string) => valuesOf(lesson, knobs, name) : null;
  const turn = (requested: Knobs) => {
    const change = toKnobs(lesson, scene, knobs, requested, run);
    if ('run' in change) onBegin();
    go(change, 'replace');
  };
  return {
    knobs,
    /** The knobs from the address, without the arms on the stage. */
    placed,
    goesOn,
    running: pending?.source === 'live' || stoppable !== undefined,
    blocked: blockedWords(connection, hello),
    values,
    turn,
    /** Set one knob, clamped to the lesson's limits. Without guests, a value that is not recorded changes nothing. */
    turnOne: (name: string, value: number) => {
      const free = values === null || lesson.params[name]?.applies === 'model';
      if (free || values(name).includes(value)) turn(withParam(lesson, knobs, name, value));
    },
    begin: (with_: Knobs = knobs) => {
      letGo();
      onBegin();
      commands.start(choiceOf(with_));
    },
    /** Start a run of the chosen arms with the current knobs, and show these arms. */
    beginWith: (chosen: readonly string[]) => {
      go({ ...toNewRun, arms: chosen }, 'replace');
      onBegin();
      const choice = { ...choiceOf(knobs), arms: chosen };
      if (taker?.patches) taker.attempt(choice);
      else commands.start(choice);
    },
    /** Start a run with the current knobs through the plug-in that handles runs; null without such a plug-in. */
    attempt:
      taker === null
        ? null
        : () => {
            letGo();
            onBegin();
            taker.attempt(choiceOf(knobs));
          },
    /** Run the step on the count clock, which a busy host cannot disturb. */
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

/**
 * On a page without a server, fetches the runs for the values next to the knobs' current values, so that these runs
 * play at once.
 */
function useNeighbours(lesson: Lesson, knobs: Knobs, settled: boolean): void {
  const ids = neighbours(lesson, knobs)
    .map((run) => recordingId(lesson, run))
    .join(' ');
  useEffect(() => {
    if (settled && ids !== '') prefetch(ids.split(' '));
  }, [ids, settled]);
}

export interface LessonProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
  /** The run requested before the lesson was known (see firstRun). */
  readonly first: Wanted;
}

export type DialogName = 'recap' | 'help' | 'caveats' | 'losses' | 'lens' | 'runs' | 'share';

/** Keys that an embedded page lacks. The deck around the frame uses the keys for steps. */
const ofReaders: ReadonlySet<Act> = new Set<Act>([
  'step-back',
  'step-on',
  'words',
  'questions',
  'knobs',
  'share',
  'present',
]);

/** Keys that do nothing while there are no events. */
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
  const { led, keys: leadKeys, follow } = useLead();
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
  // A moment in the leader's address must not reveal the step on a follower's page: the question comes first.
  const sought = led ? { ...place, moment: null } : place;
  const reveal = useReveal(scene);
  const guess = useGuess({ lesson, scene, place: sought }, answers, save, reveal);
  const playback = behindVeil(own, guess);
  const { veiled } = guess;
  // This effect must run after the effects of the navigation, which move a new step to its moment.
  useEffect(() => plain.veil(veiled), [plain, veiled]);
  const questions = useQuestions(lesson, index, answers, save, usePointed(lesson));
  const ready = nav.settled && !nav.awaiting && !nav.coming;
  const seen = { lesson, scene, arms, place, run: nav.runName, ready, veiled, playback: plain };
  const inLesson = useInLesson(seen, index);
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const [records, setRecords] = useState<Behind | null>(null);
  /** A stage that was uncovered stays uncovered for the viewer's own run. */
  const stayOpen = () => {
    if (!guess.veiled) guess.reveal?.();
  };
  const actions = useRunActions({ ...props, go }, server, stayOpen);
  useNeighbours(lesson, actions.knobs, nav.settled);
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
  const pointAt = (number: number) => {
    const there = lesson.questions[number]?.step;
    if (there !== undefined && there !== scene.id) step(there);
    questions.ask(number);
    toggle('questions', true);
  };
  // Return the same list object as long as the list has the same keys.
  const [key] = leadKeys;
  const { embed } = place;
  const keys = useMemo(() => {
    const aligned = unaligned(lesson) === null;
    const all = keyList(lesson.operation.name, lesson.beat?.name, aligned, [
      shareKey,
      ...(key ? [key] : []),
    ]);
    return embed ? all.filter(({ act }) => !ofReaders.has(act)) : all;
  }, [lesson, key, embed]);
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
    follow,
    share: () => setDialog('share'),
    help: () => setDialog('help'),
  };
  const contended = contendedOf(lesson, server.run, server.shownLanes);
  const { prediction, answer } = guess;
  const blocked = prediction ? notJudged(lesson, scene, prediction, server.run, contended) : '';
  useKeys(keys, (act) => {
    if (nav.settled || !ofTime.has(act)) acts[act]();
  });
  return {
    ...props,
    ...{ theme, server, index, playback, nav, guess, questions, actions, keys, acts, step, toggle },
    ...{ answers, save, dialog, setDialog, records, setRecords, go, inLesson, pointAt },
    moving,
    site: siteOf() !== null,
    recorded: server.run?.source === 'recorded',
    live: server.run?.source === 'live',
    sentence: useSentence(scene.sentence),
    losses: useLosses(lesson, arms),
    lenses: useLenses(lesson, arms),
    kernel: useKernel(),
    contended,
    /** Why the run on the stage does not judge the guess; empty if it does. */
    blocked,
    /** Index of the right choice; null while it is not known. */
    truth: answer && blocked === '' && nav.whole ? answer.choice : null,
    onMark: (mark: Mark | null) => {
      playback.select(mark);
      if (inLesson.pick(mark)) return;
      if (!mark || questions.point(mark, place.panes.includes('questions'))) return;
      playback.pause();
      setRecords(index && behindOf(index, playback.frame.get(), lesson, mark));
    },
    /** The link to the current moment; with `asks`, to the step without its moment, so that its question comes first. */
    address: (asks = false) => {
      const later = asks ? { moment: null, window: null } : {};
      const also = { step: scene.id, arms, present: null, slide: null, embed: false, ...later };
      return linkTo(playback.now(), { place, usual: nav.usual, run: nav.runName, also });
    },
  };
}

/** Playback while the stage is covered: nothing plays, and pressing play skips the prediction. */
function behindVeil(playback: Playback, { veiled, reveal }: Guess): Playback {
  if (!veiled) return playback;
  const first = (act: () => void) => () => {
    if (reveal === null) return;
    reveal();
    act();
  };
  const { backwards, scope } = playback;
  return {
    ...playback,
    toggle: reveal ?? (() => {}),
    backwards: first(backwards),
    scope: first(scope),
  };
}
