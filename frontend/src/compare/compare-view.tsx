// SPDX-License-Identifier: GPL-2.0-or-later
/** Shows two recordings of a lesson side by side: first their differences, then their lanes on one axis. */

import { type CSSProperties, useEffect, useMemo, useState } from 'react';
import { rich, t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { type Act, keyList, useKeys } from '../controls/keyboard.ts';
import { playbackActs, Transport, useTransport } from '../controls/transport.tsx';
import { useModel } from '../controls/use-model.ts';
import { unaligned } from '../derive/align.ts';
import { framesOfSide, laneKey, pairIndex, type Side, sides } from '../derive/pair.ts';
import { momentWords } from '../derive/retime.ts';
import { lessonOfRun, pickLanes } from '../derive/run-index.ts';
import type { FrameSource, RunIndex } from '../derive/types.ts';
import { knobsAt } from '../navigation/knobs.ts';
import { linkTo, sceneOf, stepAfter } from '../navigation/navigation.ts';
import { elsewhere, frontPage, type Place } from '../navigation/place.ts';
import { type Go, useIdle, useNavigation, useSettled } from '../navigation/use-navigation.ts';
import { LiveLaneHeader } from '../page/stage.tsx';
import { HelpDialog } from '../panels/dialogs.tsx';
import { AxisLine, JumpLine } from '../panels/lane-header.tsx';
import { Legend } from '../panels/legend.tsx';
import { NoticeLines, Notices } from '../panels/notices.tsx';
import {
  LensList,
  LossList,
  StateStrip,
  useKernel,
  useLenses,
  useLosses,
} from '../panels/state-strip.tsx';
import { TopBar } from '../panels/top-bar.tsx';
import {
  LanesProvider,
  type Playback,
  useCounts,
  usePlayback,
  useRunIndex,
} from '../playback/hooks.tsx';
import { Slot, useAwaited, useInComparison, useOwnGo } from '../plugins.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { contendedOf } from '../runs/runs-line.tsx';
import { type Comparison, Differences, Figures } from '../runs/saved-runs.tsx';
import { StoreProvider, useLanes, useLesson, useRun, useStore } from '../store/hooks.tsx';
import type { Store } from '../store/store.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Mark } from '../ui/parts.tsx';
import { useTheme } from '../ui/theme.ts';
import { day } from '../ui/words.ts';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { allViews, useView, viewOf } from '../views/registry.ts';
import {
  comparedId,
  indexOf,
  useComparison,
  useNews,
  useOpened,
  useSecondStore,
} from './use-compare-view.ts';
import './compare-view.css';

// Data that all parts of a page with two runs need.

interface Runs {
  readonly ids: Readonly<Record<Side, string>>;
  readonly stores: Readonly<Record<Side, Store>>;
  readonly index: (side: Side) => RunIndex | null;
}

// A lane of one of the two runs, with badges for the run's source, clock, losses and lenses.

interface StripProps {
  readonly side: Side;
  readonly runs: Runs;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
}

/** Badges of one run, which come from the run's own store. */
function CompareStrip(props: StripProps) {
  return (
    <StoreProvider store={props.runs.stores[props.side]}>
      <Strip {...props} />
    </StoreProvider>
  );
}

function Strip({ side, lesson, scene, arms, place }: StripProps) {
  const run = useRun();
  const kernel = useKernel();
  const losses = useLosses(lesson, arms);
  const lenses = useLenses(lesson, arms);
  const [dialog, setDialog] = useState<'losses' | 'lens' | null>(null);
  useModel(lesson, knobsAt(lesson, scene, place));
  return (
    <div className="beside-run" data-testid={`run-${side}`}>
      <b>{side}</b>
      <StateStrip
        run={run}
        kernel={kernel}
        lanes={arms.length}
        lost={losses.reduce((sum, lane) => sum + lane.events, 0)}
        gaps={losses.reduce((sum, lane) => sum + lane.gapRows, 0)}
        control={null}
        pending=""
        lenses={lenses}
        onLoss={() => setDialog('losses')}
        onLens={() => setDialog('lens')}
        onControl={() => {}}
      />
      <Dialog
        title={t('Lost events of the {side}', { side })}
        open={dialog === 'losses'}
        onClose={() => setDialog(null)}
        testId="losses"
      >
        <LossList lanes={losses} />
      </Dialog>
      <Dialog
        title={t('Lenses of the {side}', { side })}
        open={dialog === 'lens'}
        onClose={() => setDialog(null)}
        testId="lens-sheet"
      >
        <LensList lanes={lenses} />
      </Dialog>
    </div>
  );
}

interface LaneProps {
  readonly side: Side;
  /** Name of the arm of both lanes. */
  readonly name: string;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly runs: Runs;
  readonly found: Comparison;
  readonly theme: Theme;
  readonly frame: FrameSource;
  readonly playback: Playback;
}

function CompareLane(props: LaneProps) {
  return (
    <StoreProvider store={props.runs.stores[props.side]}>
      <Lane {...props} />
    </StoreProvider>
  );
}

function Lane({ side, name, lesson, scene, runs, found, theme, frame, playback }: LaneProps) {
  const counts = useCounts();
  const states = useLanes();
  const run = useRun();
  const whole = runs.index(side);
  const view = viewOf(lesson.view);
  const arm = lesson.arms.find((one) => one.name === name);
  if (whole === null || arm === undefined) return null;
  const index = pickLanes(whole, [name]);
  const key = laneKey(side, name);
  const ops = counts.find((count) => count.arm === key)?.ops ?? null;
  const height = Math.round(view.preferredHeight(index, lesson, scene.show));
  return (
    <div
      className="beside-lane"
      data-testid={`${side}-${name}`}
      style={{ '--lane-height': `${height}px` } as CSSProperties}
    >
      <LaneCanvas
        view={view}
        runIndex={index}
        lesson={lesson}
        frame={frame}
        theme={theme}
        show={scene.show}
        header={() => (
          <LiveLaneHeader
            arm={{
              ...arm,
              title: `${arm.title}, ${side}`,
              summary: laneWords(found, side, name),
            }}
            lane={states.find((lane) => lane.arm === name) ?? null}
            build={null}
            recorded={whole.source === 'recorded'}
            pending={false}
            missing={false}
            distorted={contendedOf(lesson, run, states)?.distorted ?? false}
            ops={lesson.operation.open === null ? null : ops}
            operation={lesson.operation}
            onLoss={playback.nextLoss}
          />
        )}
        onSelect={(mark) => playback.select(mark && { ...mark, arm: key })}
        onSeek={playback.seek}
        onWindow={playback.view}
      />
    </div>
  );
}

/**
 * Describe how an arm's lane in one run differs from its lane in the other run: the run's date, knobs, kernel and host.
 */
export function laneWords(found: Comparison, side: Side, arm: string): string {
  const at = side === 'first' ? 0 : 1;
  const differs = found.differences
    .filter((d) => (d.arm === '' || d.arm === arm) && ['run', 'kernel', 'host'].includes(d.of))
    .filter((d) => d.what !== 'arms')
    .map((d) => `${d.what} ${at === 0 ? d.recorded : d.now}`);
  return [day(found.sides[at]?.created ?? ''), ...differs.slice(0, 3)].filter(Boolean).join(' · ');
}

// The text alternative of both runs, which describes each lane's window. Lanes of the same arm follow each other.

interface CompareWordsProps {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly runs: Runs;
  readonly frames: Readonly<Record<Side, FrameSource>>;
  readonly playback: Playback;
  readonly onClose: () => void;
}

function CompareWords({ lesson, arms, runs, frames, playback, onClose }: CompareWordsProps) {
  const axis = runs.index('first')?.axis ?? null;
  const sentences = (side: Side, arm: string) => {
    const index = runs.index(side);
    if (index === null) return [];
    return viewOf(lesson.view).summary(pickLanes(index, [arm]), frames[side].get(), lesson);
  };
  return (
    <section className="words" aria-label={t('The lanes in words')} data-testid="words">
      <header>
        <p className="eyebrow">
          {rich('In words, at <span>{axis}</span>', {
            axis: momentWords(axis, playback.state.moment),
            span: (words) => <span className="number">{words}</span>,
          })}
        </p>
        <button type="button" className="link" onClick={onClose}>
          {t('close')}
        </button>
      </header>
      <ul className="summary" data-volatile>
        {arms.flatMap((arm) =>
          sides.map((side) => (
            <li key={`${side} ${arm}`}>
              <b>{side}:</b> {sentences(side, arm).join(' ')}
            </li>
          )),
        )}
      </ul>
    </section>
  );
}

// The differences between two runs, their lanes grouped by arm, and one transport for both.

interface CompareViewPageProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly runs: Runs;
  readonly found: Comparison;
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
}

/** Keyboard actions of the lesson page that do nothing on this page. */
const without: ReadonlySet<Act> = new Set<Act>([
  ...(['scope', 'questions', 'caveats', 'knobs', 'present'] as const),
]);

function CompareViewPage(props: CompareViewPageProps) {
  const { scene, arms, runs, found, place, visit } = props;
  const go = useOwnGo(props.go, place);
  const theme = useTheme();
  const plain = usePlayback('page');
  const playback = usePlayback();
  const index = useRunIndex();
  // whyNoCommonAxis() has ensured that both runs count the same kind of operation.
  const lesson = lessonOfRun(props.lesson, index?.workload ?? '');
  const [help, setHelp] = useState(false);
  const whole = useSettled(index);
  const first = { run: place.run, step: place.step };
  const { settled, usual } = useNavigation(
    { lesson, scene, place, visit, index, whole, runs: null },
    { playback: plain, go: props.go, first },
  );
  const seen = { lesson, scene, arms, place, run: place.run, ready: settled, veiled: false };
  useInComparison({ ...seen, playback: plain });
  useIdle(settled && playback.state.mode === 'paused');
  const words = place.panes.includes('words');
  const onWords = () => go({ panes: words ? [] : ['words'] }, 'replace');
  const both = useMemo(() => titled(lesson, arms), [lesson, arms]);
  const given = { lesson, scene, index, theme, settled, live: false, lanesOf: both, onWords };
  const transport = useTransport(playback, given);
  const frames = useMemo(() => {
    const of = (side: Side) => framesOfSide(playback.frame, side, () => index);
    return { first: of('first'), second: of('second') };
  }, [playback.frame, index]);
  const toStep = (step: string | null) => {
    if (step !== null) go({ ...elsewhere, run: place.run, beside: place.beside, step });
  };
  const keys = useMemo(
    () =>
      keyList(lesson.operation.name, lesson.beat?.name, unaligned(lesson) === null).filter(
        (key) => !without.has(key.act),
      ),
    [lesson],
  );
  const acts: Partial<Record<Act, () => void>> = {
    ...playbackActs(playback, theme),
    'step-back': () => toStep(stepAfter(lesson, scene, -1)),
    'step-on': () => toStep(stepAfter(lesson, scene, 1)),
    words: onWords,
    deselect: () => playback.select(null),
    help: () => setHelp(true),
  };
  useKeys(keys, (act) => acts[act]?.());
  const address = () =>
    linkTo(playback.now(), { place, usual, run: place.run, also: { step: scene.id } });
  if (index === null) return null;
  return (
    <div className="lesson beside" data-testid="beside">
      <TopBar
        question={lesson.question}
        address={address}
        onFront={() => go({ ...frontPage })}
        onHelp={() => setHelp(true)}
      />
      <Slot part="OverComparison" given={{ lesson, place }} />
      <main className="beside-main">
        <Head {...{ lesson, found, place, go }} />
        <Notices />
        <div className="beside-runs">
          {sides.map((side) => (
            <CompareStrip key={side} {...{ side, runs, lesson, scene, arms, place }} />
          ))}
          <StepChoice {...{ lesson, scene }} onStep={toStep} />
        </div>
        <JumpLine lesson={both} index={index} />
        <ArmLanes {...{ lesson, scene, arms, runs, found, theme, playback, frames }} />
        <AxisLine lesson={both} index={index} playback={playback} />
        {words && <CompareWords {...{ lesson, arms, runs, frames, playback }} onClose={onWords} />}
        <Legend lesson={lesson} scene={scene} theme={theme} index={index} />
        <section className="beside-figures" aria-label={t('Figures')}>
          <Figures lesson={lesson} found={found} />
        </section>
      </main>
      <Transport {...transport} />
      <HelpDialog keys={keys} open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

function Head({
  lesson,
  found,
  place,
  go,
}: Pick<CompareViewPageProps, 'lesson' | 'found' | 'place' | 'go'>) {
  return (
    <section className="beside-head" aria-label={t('Differences')}>
      <h2>{t('Two recordings of “{title}”', { title: lesson.title })}</h2>
      <Differences lesson={lesson} found={found} />
      <p className="small">
        {sides.map((side) => (
          <button
            key={side}
            type="button"
            className="link small"
            onClick={() => go({ ...elsewhere, run: side === 'first' ? place.run : place.beside })}
            data-testid={`alone-${side}`}
          >
            {t('the {side} alone', { side })}
          </button>
        ))}
      </p>
    </section>
  );
}

function StepChoice({
  lesson,
  scene,
  onStep,
}: Pick<CompareViewPageProps, 'lesson' | 'scene'> & { readonly onStep: (step: string) => void }) {
  return (
    <label className="small">
      {t('as in the step')}{' '}
      <select
        value={scene.id}
        onChange={(event) => onStep(event.target.value)}
        data-testid="beside-step"
      >
        {lesson.scenes.map((s) => (
          <option key={s.id} value={s.id}>
            {s.title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface LanesProps
  extends Pick<CompareViewPageProps, 'lesson' | 'scene' | 'arms' | 'runs' | 'found'> {
  readonly theme: Theme;
  readonly playback: Playback;
  readonly frames: Readonly<Record<Side, FrameSource>>;
}

function ArmLanes({ arms, frames, ...given }: LanesProps) {
  const { lesson, scene, runs } = given;
  const layout = laidBeside(lesson, scene, runs) ? 'columns' : 'rows';
  return arms.map((name) => (
    <section
      key={name}
      className="beside-arm"
      data-layout={layout}
      aria-label={lesson.arms.find((arm) => arm.name === name)?.title ?? name}
    >
      {sides.map((side) => (
        <CompareLane key={side} {...{ side, name, ...given }} frame={frames[side]} />
      ))}
    </section>
  ));
}

/** The lesson for the axis and the scrubber. Each arm occurs twice, once per run. */
export function titled(lesson: Lesson, arms: readonly string[]): Lesson {
  const both = lesson.arms
    .filter((arm) => arms.includes(arm.name))
    .flatMap((arm) =>
      sides.map((side) => ({
        ...arm,
        name: laneKey(side, arm.name),
        title: `${arm.title}, ${side}`,
      })),
    );
  return { ...lesson, arms: both };
}

/**
 * Whether the view places lanes in columns, so that two lanes need no more height than one lane. If so, this page uses
 * columns too.
 */
function laidBeside(lesson: Lesson, scene: Scene, runs: Runs): boolean {
  const whole = runs.index('first');
  const [lane] = whole?.lanes ?? [];
  if (!whole || !lane) return false;
  const high = (lanes: readonly (typeof lane)[]) =>
    viewOf(lesson.view).preferredHeight({ ...whole, lanes }, lesson, scene.show);
  return high([lane, lane]) < 1.3 * high([lane]);
}

interface CompareViewProps {
  readonly slug: string;
  readonly place: Place & { readonly beside: string };
  readonly go: Go;
  readonly visit: number;
}

export function CompareView({ slug, place, go, visit }: CompareViewProps) {
  const lesson = useLesson();
  const first = useStore();
  const second = useSecondStore();
  const one = place.run === null ? null : comparedId(slug, place.run);
  const other = comparedId(slug, place.beside);
  const { found, refused } = useComparison(slug, one, other);
  const fits = one !== null && refused === '';
  useOpened(first, slug, one ?? '', fits);
  useOpened(second, slug, other, fits);
  useNews(first);
  useNews(second);
  const runs = useMemo<Runs>(() => {
    const ids = { first: one ?? '', second: other };
    const stores = { first, second };
    return { ids, stores, index: (side) => indexOf(stores[side], ids[side]) };
  }, [first, second, one, other]);
  const view = useView(lesson?.slug === slug ? lesson : null);
  const left = runs.index('first');
  const right = runs.index('second');
  const alone = () => go({ run: place.run, beside: null });
  const waits = { place, onLesson: alone };
  if (refused) return <Waiting refused={refused} {...waits} />;
  if (found === null || lesson?.slug !== slug || left === null || right === null)
    return <Waiting refused="" {...waits} />;
  if (view === undefined) return <Waiting refused="" {...waits} />;
  const odd = whyNoCommonAxis(lesson, left, right);
  if (odd) return <Waiting refused={odd} {...waits} />;
  return <Both {...{ lesson, runs, found, place, go, visit }} />;
}

/** The reason that the lanes of two runs cannot share an axis; empty if they can. */
export function whyNoCommonAxis(lesson: Lesson, one: RunIndex, other: RunIndex): string {
  if (!allViews().has(lesson.view))
    return t('This page has no view called {view}. Reload the page.', { view: lesson.view });
  const [left, right] = [one, other].map((index) => index.axis?.plural ?? t('guest time'));
  if (left === right) {
    const [a, b] = [one, other].map((index) => lessonOfRun(lesson, index.workload).operation);
    if (a?.name === b?.name) return '';
    return t(
      'An operation of the first run is a {name}, but an operation of the second run is a {name2}. Choose two runs of the same workload.',
      { name: a?.name, name2: b?.name },
    );
  }
  return t(
    'The two runs have no common axis: the first run’s axis counts {left}, and the second run’s axis counts {right}. Choose two runs of the same workload.',
    { left, right },
  );
}

function Both(props: {
  readonly lesson: Lesson;
  readonly runs: Runs;
  readonly found: Comparison;
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
}) {
  const { lesson, runs, found, place } = props;
  const scene = sceneOf(lesson, place.step);
  const arms = commonArms(lesson, found, place.arms ?? scene.arms);
  const key = arms.join(' ');
  const given = useMemo(() => {
    const shown = key.split(' ');
    const index = () => {
      const [one, other] = [runs.index('first'), runs.index('second')];
      return one && other && pairIndex(one, other, shown);
    };
    // A step's moment is found in the first run, because that run's lanes have the lesson's names.
    const currentIndex = () => runs.index('first');
    const news = [runs.stores.first.events, runs.stores.second.events];
    return { index, whole: index, currentIndex, news };
  }, [runs, key]);
  return (
    <LanesProvider given={given}>
      <CompareViewPage {...props} scene={scene} arms={arms} />
    </LanesProvider>
  );
}

/** The requested arms that both runs have, in the lesson's order. If there are none, all arms that both runs have. */
export function commonArms(
  lesson: Pick<Lesson, 'arms'>,
  found: Pick<Comparison, 'sides'>,
  wanted: readonly string[],
): readonly string[] {
  const both = lesson.arms
    .map((arm) => arm.name)
    .filter((name) => found.sides.every((side) => side.arms.includes(name)));
  const chosen = both.filter((name) => wanted.includes(name));
  return chosen.length > 0 ? chosen : both;
}

function Waiting({
  refused,
  place,
  onLesson,
}: {
  readonly refused: string;
  readonly place: Place;
  readonly onLesson: () => void;
}) {
  const store = useStore();
  useAwaited(place);
  useEffect(() => {
    document.documentElement.dataset['idle'] = refused ? 'true' : 'false';
  }, [refused]);
  return (
    <main className="front" data-testid="beside-waiting">
      <p className="brand">
        <Mark /> Kernel Duet
      </p>
      {refused ? (
        <p className="lead" role="alert">
          {refused}
        </p>
      ) : (
        <p className="lead" role="status">
          {t('Loading two recordings and their differences…')}
        </p>
      )}
      <NoticeLines connection={store.connection.get()} errors={[]} onDismiss={() => {}} />
      <button type="button" className="button" onClick={onLesson}>
        {t('the lesson')}
      </button>
    </main>
  );
}
