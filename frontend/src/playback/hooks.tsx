// SPDX-License-Identifier: GPL-2.0-or-later
/** React hooks for playback, and for texts derived from it. Derived texts change at most ten times a second. */

import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { must } from '../base/assert.ts';
import { frameLoop } from '../base/raf.ts';
import type { Signal } from '../base/signal.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import { opsNow } from '../derive/align.ts';
import { crossingAnswer } from '../derive/grid.ts';
import type { Direction } from '../derive/jumps.ts';
import { frameEnd, spanOf } from '../derive/moments.ts';
import { type Answer, opsRatio, tableRatio } from '../derive/prediction.ts';
import { ownTables } from '../derive/recording.ts';
import { axisSpeedWords } from '../derive/retime.ts';
import { indexRun, lessonOfRun, pickLanes } from '../derive/run-index.ts';
import { claimedPlace } from '../derive/sought.ts';
import type { NearbyRow } from '../derive/summary.ts';
import type { Alignment, Frame, FrameSource, Mark, RunIndex } from '../derive/types.ts';
import type { Lesson, MeasuredTable, Scene } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { useEventsVersion, useLesson, useLines, useMeasured, useStore } from '../store/hooks.tsx';
import type { Store } from '../store/store.ts';
import type { Counts, Panel, PanelData, PanelProps } from '../views/contract.ts';
import { viewOf } from '../views/registry.ts';
import type { Action, Mode, PlaybackState, World } from './machine.ts';
import { type Actor, Player } from './player.ts';

// The player of a page, and the lanes that it plays.

/** The values that all hooks below the same provider share. */
interface Stage {
  readonly player: Player;
  /** Returns the current index of the visible lanes; `whole` returns the index of all lanes. */
  readonly index: () => RunIndex | null;
  readonly whole: () => RunIndex | null;
  /** Returns the index in which a step's moment is looked up. */
  readonly currentIndex: () => RunIndex | null;
  readonly lesson: () => Lesson | null;
  /** Whether the visitor wants less motion. */
  readonly reduced: () => boolean;
}

const Context = createContext<Stage | null>(null);

/** Whether the visitor wants less motion, at the time of each call. */
function reducedMotion(): () => boolean {
  const query =
    typeof matchMedia === 'function' ? matchMedia('(prefers-reduced-motion: reduce)') : null;
  return () => query?.matches ?? false;
}

function indexNow(store: Store): RunIndex | null {
  const run = store.shown();
  const lesson = store.lesson.get();
  if (run === null || lesson === null) return null;
  // After a change of lesson, the store keeps the previous lesson's run until the new lesson's run has events.
  const other = run.message !== null && run.message.lesson !== lesson.slug;
  return other ? null : indexRun(run, lesson);
}

/**
 * Creates the player for a run. `arms` lists the visible lanes in order; by default all lanes of the run are visible.
 */
export function PlaybackProvider({
  arms,
  children,
}: {
  readonly arms?: readonly string[];
  readonly children: ReactNode;
}) {
  const store = useStore();
  const shownArms = useRef(arms);
  shownArms.current = arms;
  const given = useMemo(() => {
    const whole = () => indexNow(store);
    const index = () => {
      const all = whole();
      const wanted = shownArms.current;
      return all === null || wanted === undefined ? all : pickLanes(all, wanted);
    };
    return { index, whole, currentIndex: index, news: [store.events] };
  }, [store]);
  return <LanesProvider given={given}>{children}</LanesProvider>;
}

/** The lanes that a player plays, and signals that announce new data of these lanes. */
export type GivenLanes = Omit<Stage, 'player' | 'lesson' | 'reduced'> & {
  readonly news: readonly Signal[];
};

/** Creates the player for the lanes of one run, or of two runs side by side. */
export function LanesProvider({
  given,
  children,
}: {
  readonly given: GivenLanes;
  readonly children: ReactNode;
}) {
  const store = useStore();
  const stage = useMemo<Stage>(() => {
    const reduced = reducedMotion();
    const world = (): World => ({ index: given.index(), reduced: reduced() });
    const lesson = () => store.lesson.get();
    return { player: new Player(frameLoop, world), ...given, lesson, reduced };
  }, [store, given]);
  useEffect(() => stage.player.run(), [stage]);
  // Tests and debuggers use this access to the store, the index and the player.
  useEffect(() => {
    Object.assign(globalThis, { duet: { store, index: stage.index, player: stage.player } });
  }, [stage, store]);
  useEffect(() => {
    const offs = given.news.map((signal) => signal.subscribe(() => stage.player.nudge()));
    return () => {
      for (const off of offs) off();
    };
  }, [given, stage]);
  return <Context value={stage}>{children}</Context>;
}

export function useStage(): Stage {
  return must(useContext(Context), 'PlaybackProvider');
}

/** The index of the visible lanes. While events arrive, it changes at most ten times a second. */
export function useRunIndex(): RunIndex | null {
  const stage = useStage();
  useEventsVersion();
  return stage.index();
}

/** The index of all lanes of the run, including hidden lanes. */
export function useWholeIndex(): RunIndex | null {
  const stage = useStage();
  useEventsVersion();
  return stage.whole();
}

// Playback from the page's point of view: its state and its actions.

export interface Playback {
  readonly state: PlaybackState & {
    readonly live: boolean;
    readonly reduced: boolean;
    /** Frame time up to which the data of every visible lane have arrived; for a recording, its end. */
    readonly watermark: Nanos;
    readonly speedWords: string;
  };
  readonly frame: FrameSource;
  /** Returns the newest state; event handlers need it. */
  readonly now: () => PlaybackState;
  readonly play: (direction?: Direction) => void;
  readonly pause: () => void;
  /** Cover the stage, or remove the cover. */
  readonly veil: (veiled: boolean) => void;
  readonly toggle: () => void;
  /** Play backwards. If playback already runs backwards, pause. */
  readonly backwards: () => void;
  readonly scope: () => void;
  /** Let the oscilloscope continue from the current window and moment. */
  readonly sweep: () => void;
  readonly reverse: () => void;
  readonly seek: (moment: number) => void;
  readonly setWindow: (start: number, span?: number) => void;
  readonly zoom: (factor: number) => void;
  /** Set exactly this window. The moment either stays unchanged or moves with the window. */
  readonly view: (start: number, span: number) => void;
  readonly setSpeed: (speed: number) => void;
  readonly beat: (direction: Direction) => void;
  readonly event: (direction: Direction) => void;
  readonly nextLongWait: () => void;
  readonly firstDivergence: () => void;
  readonly nextLoss: () => void;
  /** Set exactly this window and this moment, and pause playback. */
  readonly look: (start: number, span: number, moment: number) => void;
  /**
   * @param asked whether a person pressed the button or key for this alignment. In that case, a sentence reports the
   *   result.
   */
  readonly align: (alignment: Alignment, nth?: number, asked?: boolean) => void;
  readonly select: (mark: Mark | null) => void;
  readonly focus: (kinds: readonly string[]) => void;
  /** Go to a scene's moment. `paused` is true if a link restores the moment. */
  readonly goto: (scene: Scene, paused?: boolean) => void;
}

/** Actions on playback. `by` says whether a person or the page acts. */
function actions(stage: Stage, by: Actor = 'person') {
  const act = (action: Action) => stage.player.do(action, by);
  const { player } = stage;
  const before: { mode: Mode } = { mode: 'scope' };
  return {
    frame: player.frame,
    now: () => player.state,
    play: (direction?: Direction) =>
      act({ type: 'play', ...(direction === undefined ? {} : { direction }) }),
    pause: () => act({ type: 'pause' }),
    veil: (veiled: boolean) => {
      if (player.state.veiled !== veiled) act({ type: 'veil', veiled });
    },
    toggle: () => {
      const { mode } = player.state;
      const back = mode === 'play' && player.state.direction < 0;
      if (back) act({ type: 'play', direction: 1 });
      else if (mode !== 'paused') {
        before.mode = mode;
        act({ type: 'pause' });
      } else if (before.mode === 'scope') act({ type: 'resume' });
      else act({ type: 'play', direction: 1 });
    },
    backwards: () => {
      const { mode, direction } = player.state;
      if (mode === 'play' && direction < 0) act({ type: 'pause' });
      else {
        before.mode = 'play';
        act({ type: 'play', direction: -1 });
      }
    },
    scope: () => act({ type: 'scope' }),
    sweep: () => act({ type: 'resume' }),
    reverse: () => act({ type: 'reverse' }),
    seek: (moment: number) => act({ type: 'seek', moment }),
    setWindow: (start: number, span?: number) =>
      act({ type: 'window', start, ...(span === undefined ? {} : { span }) }),
    zoom: (factor: number) => act({ type: 'zoom', factor }),
    view: (start: number, span: number) => act({ type: 'view', start, span }),
    setSpeed: (speed: number) => act({ type: 'speed', speed }),
    beat: (direction: Direction) => act({ type: 'beat', direction }),
    event: (direction: Direction) => act({ type: 'event', direction }),
    nextLongWait: () => act({ type: 'long_wait' }),
    firstDivergence: () => act({ type: 'divergence' }),
    nextLoss: () => act({ type: 'loss' }),
    look: (start: number, span: number, moment: number) =>
      act({ type: 'look', start, span, moment }),
    align: (alignment: Alignment, nth?: number, asked = false) =>
      act({ type: 'align', alignment, ...(nth === undefined ? {} : { nth }), asked }),
    select: (mark: Mark | null) => act({ type: 'select', mark }),
    focus: (kinds: readonly string[]) => act({ type: 'focus', kinds }),
    goto: (scene: Scene, paused = false) => {
      const index = stage.currentIndex();
      const lesson = stage.lesson();
      const span = spanOf(scene) || millisecond;
      const nowhere = { start: ns(0), span, moment: ns(0), follows: true, known: false };
      const place =
        index === null || lesson === null
          ? nowhere
          : claimedPlace(index, scene, lesson, viewOf(lesson.view).moments).place;
      const { seconds, focus } = scene;
      const hold = scene.show.includes('hold');
      act({ type: 'place', place, seconds, focus, hold, paused });
    },
  };
}

/** @param by a person, or the page itself. If the page acts, a member of a class does not stop following the leader. */
export function usePlayback(by: Actor = 'person'): Playback {
  const stage = useStage();
  const state = useSyncExternalStore(stage.player.texts.subscribe, stage.player.textState);
  const acts = useMemo(() => actions(stage, by), [stage, by]);
  const index = useRunIndex();
  return useMemo(
    () => ({
      ...acts,
      state: {
        ...state,
        live: index?.live ?? false,
        reduced: stage.reduced(),
        watermark: index === null ? ns(0) : frameEnd(index, state.offset),
        speedWords: axisSpeedWords(index?.axis ?? null, state.speed),
      },
    }),
    [acts, state, index, stage],
  );
}

/**
 * A value that is derived from index, frame and lesson. It is recomputed when events arrive, or when the player has a
 * new textFrame(), so that all texts show the same moment. Expensive values are recomputed at most five times a second.
 */
function useDerived<T>(
  derive: (index: RunIndex, frame: Frame, lesson: Lesson) => T,
  none: T,
  key: string,
  costly = false,
): T {
  const stage = useStage();
  const lesson = useLesson();
  const version = useEventsVersion();
  const state = useSyncExternalStore(stage.player.texts.subscribe, stage.player.textState);
  const cached = useRef<{ at: number; inputs: readonly unknown[]; value: T }>({
    at: Number.NEGATIVE_INFINITY,
    inputs: [],
    value: none,
  });
  const inputs = [lesson, version, state, key] as const;
  const same = inputs.every((x, i) => x === cached.current.inputs[i]);
  const calm = costly && state.mode !== 'paused' && performance.now() - cached.current.at < 200;
  const fixed = cached.current.inputs[3] === key && cached.current.inputs[0] === lesson;
  if (!same && !(calm && fixed)) {
    const index = stage.index();
    const frame = stage.player.textFrame();
    const value =
      index === null || lesson === null
        ? none
        : derive(index, frame, lessonOfRun(lesson, index.workload));
    cached.current = { at: performance.now(), inputs, value };
  }
  return cached.current.value;
}

/** The scene's sentence about the current moment. */
export function useSentence(kind: string): string {
  return useDerived(
    (index, frame, lesson) => viewOf(lesson.view).sentences[kind]?.(index, frame, lesson) ?? '',
    '',
    kind,
  );
}

const noSummary: readonly string[] = [];

/** A description of the window, with one sentence per lane. */
export function useSummary(): readonly string[] {
  return useDerived<readonly string[]>(
    (index, frame, lesson) => viewOf(lesson.view).summary(index, frame, lesson),
    noSummary,
    'summary',
  );
}

const noRows: readonly NearbyRow[] = [];

/**
 * The marks near the moment, at most 50. They are expensive to compute, so use this hook only while the table is open.
 */
export function useNearby(): readonly NearbyRow[] {
  return useDerived<readonly NearbyRow[]>(
    (index, frame, lesson) => viewOf(lesson.view).table(index, frame, lesson),
    noRows,
    'nearby',
    true,
  );
}

/** The view's table of counts at the moment; null if the view has no such table. */
export function useCountTable(): Counts | null {
  return useDerived<Counts | null>(
    (index, frame, lesson) => viewOf(lesson.view).counts?.(index, frame, lesson) ?? null,
    null,
    'counts of the view',
  );
}

export interface LaneCount {
  readonly arm: string;
  /** Number of operations that ended before or at the moment; null if the number is unknown. */
  readonly ops: number | null;
}

const noCounts: readonly LaneCount[] = [];

export function useCounts(): readonly LaneCount[] {
  return useDerived<readonly LaneCount[]>(
    (index, frame) => index.lanes.map((lane) => ({ arm: lane.arm, ops: opsNow(lane, frame) })),
    noCounts,
    'counts',
  );
}

/**
 * The answer to a prediction, from the run on the stage or from a recorded table if the prediction names one. Null if
 * the answer is not known.
 */
export function usePrediction(id: string | null | undefined): Answer | null {
  const lesson = useLesson();
  const whole = useWholeIndex();
  const prediction = id == null ? undefined : lesson?.predictions[id];
  if (prediction === undefined || lesson === null) return null;
  if (prediction.crossing != null) return crossingAnswer(lesson, prediction);
  if (prediction.measured_on !== null) return tableRatio(lesson, prediction, lesson);
  if (whole === null) return null;
  if (whole.reading === 'coming') return null;
  const own = viewOf(lesson.view).answers?.[prediction.metric];
  const answer = own ?? (prediction.metric === 'ops_ratio' ? opsRatio : null);
  return answer?.(whole, prediction, lesson) ?? null;
}

/** Whether selecting this mark is a correct answer to a question. */
export function pointsAt(
  index: RunIndex,
  mark: Mark,
  question: {
    readonly kind: string;
    readonly arm: string;
    readonly also?: readonly string[];
    readonly any_lane?: boolean;
  },
): boolean {
  const kind = index.kinds[mark.kind]?.name ?? '';
  const right = kind === question.kind || (question.also ?? []).includes(kind);
  return right && (question.any_lane === true || mark.arm === question.arm);
}

// A panel of a view with its data. Panels receive all data as props and do not read the store.

/** The tables recorded with the lesson, followed by those that were measured while this component is mounted. */
function useTables(lesson: Lesson, newest: MeasuredMessage | null): readonly MeasuredTable[] {
  const [seen, setSeen] = useState<readonly MeasuredTable[]>([]);
  useEffect(() => {
    if (newest?.lesson === lesson.slug && newest.source === 'live' && newest.done >= newest.total)
      setSeen((old) => [...old, newest]);
  }, [newest, lesson.slug]);
  return useMemo(() => [...ownTables(lesson.measured), ...seen], [lesson, seen]);
}

function usePanelData(lesson: Lesson, arms: readonly string[]): PanelData {
  const store = useStore();
  const measured = useMeasured();
  const tables = useTables(lesson, measured);
  // New lines of the first lane cause a render, in which the panel reads the lines of all lanes.
  useLines(arms[0] ?? '');
  const run = store.shown();
  const elsewhere = useMemo(() => lesson.measured.filter(({ on, curve }) => on || curve), [lesson]);
  return { measured, tables, elsewhere, linesOf: (arm) => run?.lanes.get(arm)?.lines ?? [] };
}

export function PanelBody({
  panel: { Body },
  ...props
}: Omit<PanelProps, 'data'> & { readonly panel: Panel }) {
  const { lesson, runIndex } = props;
  const data = usePanelData(
    lesson,
    runIndex.lanes.map((lane) => lane.arm),
  );
  return <Body {...props} data={data} />;
}
