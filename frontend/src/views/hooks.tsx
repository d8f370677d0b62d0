// SPDX-License-Identifier: GPL-2.0-or-later
/** Playback and derivations for React: the player of the page, and text that follows it calmly. */

import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from 'react';
import { must } from '../base/assert.ts';
import { frameLoop } from '../base/raf.ts';
import type { Signal } from '../base/signal.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Alignment } from '../derive/align.ts';
import type { Direction } from '../derive/beats.ts';
import { frameEnd } from '../derive/episodes.ts';
import { heldTime } from '../derive/hold.ts';
import { placeOf, spanOf } from '../derive/moments.ts';
import type { Mode, PlaybackState, World } from '../derive/playback.ts';
import { Player } from '../derive/player.ts';
import { type Answer, opsRatio } from '../derive/prediction.ts';
import { opsUpTo } from '../derive/query.ts';
import { axisSpeedWords } from '../derive/retime.ts';
import { indexRun, pickLanes } from '../derive/run-index.ts';
import type { NearbyRow } from '../derive/summary.ts';
import type { Frame, FrameSource, Mark, RunIndex } from '../derive/types.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { useEventsVersion, useLesson, useStore } from '../store/hooks.tsx';
import type { Store } from '../store/store.ts';
import { viewOf } from './registry.ts';
import type { Counts } from './types.ts';

interface Stage {
  readonly player: Player;
  /** The index of the lanes on show, brought up to date at the call. */
  readonly index: () => RunIndex | null;
  readonly whole: () => RunIndex | null;
  /** Where a step's moment is looked for. */
  readonly told: () => RunIndex | null;
  readonly lesson: () => Lesson | null;
}

const Context = createContext<Stage | null>(null);

function reducedMotion(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(prefers-reduced-motion: reduce)').matches;
}

function indexNow(store: Store): RunIndex | null {
  const run = store.shown();
  const lesson = store.lesson.get();
  return run === null || lesson === null ? null : indexRun(run, lesson);
}

/** Owns the player. `arms` are the lanes on show, in order; without it all of the run. */
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
    return { index, whole, told: index, news: [store.events] };
  }, [store]);
  return <LanesProvider given={given}>{children}</LanesProvider>;
}

/** Lanes that a player moves, and who tells that there is more of them. */
export type GivenLanes = Omit<Stage, 'player' | 'lesson'> & { readonly news: readonly Signal[] };

/** Owns the player of any lanes: those of one run, or of two. */
export function LanesProvider({
  given,
  children,
}: {
  readonly given: GivenLanes;
  readonly children: ReactNode;
}) {
  const store = useStore();
  const stage = useMemo<Stage>(() => {
    const world = (): World => ({ index: given.index(), reduced: reducedMotion() });
    const lesson = () => store.lesson.get();
    return { player: new Player(frameLoop, world), ...given, lesson };
  }, [store, given]);
  useEffect(() => stage.player.run(), [stage]);
  // For tests and for the curious: the store and the index behind the picture.
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

function useStage(): Stage {
  return must(useContext(Context), 'PlaybackProvider');
}

/** The index of the lanes on show; a new object at most ten times a second while events arrive. */
export function useRunIndex(): RunIndex | null {
  const stage = useStage();
  useEventsVersion();
  return stage.index();
}

/** All lanes of the run, shown or not. */
export function useWholeIndex(): RunIndex | null {
  const stage = useStage();
  useEventsVersion();
  return stage.whole();
}

export interface Playback {
  readonly state: PlaybackState & {
    readonly live: boolean;
    readonly reduced: boolean;
    /** Frame time up to which every lane shown is complete; the end of a recording. */
    readonly watermark: Nanos;
    readonly speedWords: string;
  };
  readonly frame: FrameSource;
  /** The newest state, for event handlers. */
  readonly now: () => PlaybackState;
  readonly play: (direction?: Direction) => void;
  readonly pause: () => void;
  readonly toggle: () => void;
  /** Plays backwards, or pauses where it does. */
  readonly backwards: () => void;
  readonly scope: () => void;
  readonly reverse: () => void;
  readonly seek: (moment: number) => void;
  readonly setWindow: (start: number, span?: number) => void;
  readonly zoom: (factor: number) => void;
  readonly setSpeed: (speed: number) => void;
  readonly beat: (direction: Direction) => void;
  readonly event: (direction: Direction) => void;
  readonly nextLongWait: () => void;
  readonly firstDivergence: () => void;
  readonly nextLoss: () => void;
  /** Exactly this window and moment, still. */
  readonly look: (start: number, span: number, moment: number) => void;
  readonly align: (alignment: Alignment, nth?: number) => void;
  readonly select: (mark: Mark | null) => void;
  readonly focus: (kinds: readonly string[]) => void;
  /** Goes to where a scene looks. `paused` keeps it still, for links that restore a moment. */
  readonly goto: (scene: Scene, paused?: boolean) => void;
}

function actions(stage: Stage) {
  const { player } = stage;
  const before: { mode: Mode } = { mode: 'scope' };
  return {
    frame: player.frame,
    now: () => player.state,
    play: (direction?: Direction) =>
      player.do({ type: 'play', ...(direction === undefined ? {} : { direction }) }),
    pause: () => player.do({ type: 'pause' }),
    toggle: () => {
      const { mode } = player.state;
      const back = mode === 'play' && player.state.direction < 0;
      if (back) player.do({ type: 'play', direction: 1 });
      else if (mode !== 'paused') {
        before.mode = mode;
        player.do({ type: 'pause' });
      } else if (before.mode === 'scope') player.do({ type: 'resume' });
      else player.do({ type: 'play', direction: 1 });
    },
    backwards: () => {
      const { mode, direction } = player.state;
      if (mode === 'play' && direction < 0) player.do({ type: 'pause' });
      else {
        before.mode = 'play';
        player.do({ type: 'play', direction: -1 });
      }
    },
    scope: () => player.do({ type: 'scope' }),
    reverse: () => player.do({ type: 'reverse' }),
    seek: (moment: number) => player.do({ type: 'seek', moment }),
    setWindow: (start: number, span?: number) =>
      player.do({ type: 'window', start, ...(span === undefined ? {} : { span }) }),
    zoom: (factor: number) => player.do({ type: 'zoom', factor }),
    setSpeed: (speed: number) => player.do({ type: 'speed', speed }),
    beat: (direction: Direction) => player.do({ type: 'beat', direction }),
    event: (direction: Direction) => player.do({ type: 'event', direction }),
    nextLongWait: () => player.do({ type: 'long_wait' }),
    firstDivergence: () => player.do({ type: 'divergence' }),
    nextLoss: () => player.do({ type: 'loss' }),
    look: (start: number, span: number, moment: number) =>
      player.do({ type: 'look', start, span, moment }),
    align: (alignment: Alignment, nth?: number) =>
      player.do({ type: 'align', alignment, ...(nth === undefined ? {} : { nth }) }),
    select: (mark: Mark | null) => player.do({ type: 'select', mark }),
    focus: (kinds: readonly string[]) => player.do({ type: 'focus', kinds }),
    goto: (scene: Scene, paused = false) => {
      const index = stage.told();
      const lesson = stage.lesson();
      const span = spanOf(scene) || millisecond;
      const nowhere = { start: ns(0), span, moment: ns(0), follows: true, known: false };
      const own = lesson === null ? {} : viewOf(lesson.view).moments;
      const place = index === null ? nowhere : placeOf(index, scene, own);
      const { seconds, focus } = scene;
      const hold = scene.show.includes('hold');
      player.do({ type: 'place', place, seconds, focus, hold, paused });
    },
  };
}

export function usePlayback(): Playback {
  const stage = useStage();
  const state = useSyncExternalStore(stage.player.texts.subscribe, stage.player.textState);
  const acts = useMemo(() => actions(stage), [stage]);
  const index = useRunIndex();
  return useMemo(
    () => ({
      ...acts,
      state: {
        ...state,
        live: index?.live ?? false,
        reduced: reducedMotion(),
        watermark: index === null ? ns(0) : frameEnd(index, state.offset),
        speedWords: axisSpeedWords(index?.axis ?? null, state.speed),
      },
    }),
    [acts, state, index],
  );
}

/** A derivation of (index, frame, lesson), anew when the text moment or the events change, at most five times a second. */
function useDerived<T>(
  derive: (index: RunIndex, frame: Frame, lesson: Lesson) => T,
  none: T,
  key: string,
): T {
  const stage = useStage();
  const lesson = useLesson();
  const version = useEventsVersion();
  const state = useSyncExternalStore(stage.player.texts.subscribe, stage.player.textState);
  const kept = useRef<{ at: number; inputs: readonly unknown[]; value: T }>({
    at: Number.NEGATIVE_INFINITY,
    inputs: [],
    value: none,
  });
  const inputs = [lesson, version, state, key] as const;
  const same = inputs.every((x, i) => x === kept.current.inputs[i]);
  const calm = state.mode !== 'paused' && performance.now() - kept.current.at < 200;
  const fixed = kept.current.inputs[3] === key && kept.current.inputs[0] === lesson;
  if (!same && !(calm && fixed)) {
    const index = stage.index();
    const frame = stage.player.frame.get();
    const value = index === null || lesson === null ? none : derive(index, frame, lesson);
    kept.current = { at: performance.now(), inputs, value };
  }
  return kept.current.value;
}

/** The scene's sentence, now: one of its view's. */
export function useSentence(kind: string): string {
  return useDerived(
    (index, frame, lesson) => viewOf(lesson.view).sentences[kind]?.(index, frame, lesson) ?? '',
    '',
    kind,
  );
}

const noSummary: readonly string[] = [];

/** The window in words, a sentence per lane. */
export function useSummary(): readonly string[] {
  return useDerived<readonly string[]>(
    (index, frame, lesson) => viewOf(lesson.view).summary(index, frame, lesson),
    noSummary,
    'summary',
  );
}

const noRows: readonly NearbyRow[] = [];

/** At most 50 marks near the moment. Costs some work: use it only while the table is open. */
export function useNearby(): readonly NearbyRow[] {
  return useDerived<readonly NearbyRow[]>(
    (index, frame, lesson) => viewOf(lesson.view).table(index, frame, lesson),
    noRows,
    'nearby',
  );
}

/** The counts of the lesson's view at this moment; null if it has none of its own. */
export function useCountTable(): Counts | null {
  return useDerived<Counts | null>(
    (index, frame, lesson) => viewOf(lesson.view).counts?.(index, frame, lesson) ?? null,
    null,
    'counts of the view',
  );
}

export interface LaneCount {
  readonly arm: string;
  /** Operations that ended up to the moment; null while the moment is past what is known. */
  readonly ops: number | null;
}

const noCounts: readonly LaneCount[] = [];

export function useCounts(): readonly LaneCount[] {
  return useDerived<readonly LaneCount[]>(
    (index, frame) =>
      index.lanes.map((lane) => ({
        arm: lane.arm,
        ops: opsUpTo(lane, heldTime(lane, frame)),
      })),
    noCounts,
    'counts',
  );
}

/** The truth about a prediction, from the run on show; null while there are too few operations. */
export function usePrediction(id: string | null | undefined): Answer | null {
  const lesson = useLesson();
  const whole = useWholeIndex();
  const prediction = id == null ? undefined : lesson?.predictions[id];
  if (prediction === undefined || whole === null || lesson === null) return null;
  if (whole.reading === 'coming') return null;
  const own = viewOf(lesson.view).answers?.[prediction.metric];
  const answer = own ?? (prediction.metric === 'ops_ratio' ? opsRatio : null);
  return answer?.(whole, prediction, lesson) ?? null;
}

/** Is this mark what a question asks to point at? */
export function pointsAt(
  index: RunIndex,
  mark: Mark,
  question: { readonly kind: string; readonly arm: string },
): boolean {
  return mark.arm === question.arm && index.kinds[mark.kind]?.name === question.kind;
}
