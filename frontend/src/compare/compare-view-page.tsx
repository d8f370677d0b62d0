// SPDX-License-Identifier: GPL-2.0-or-later
/** What two runs differ in, their lanes arm by arm, and one transport for all of them. */

import { useMemo, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { ShownBar } from '../classroom/entry.tsx';
import { useOwnGo } from '../classroom/use-follow.ts';
import { useInCompare } from '../classroom/use-in-compare.ts';
import { type Act, keyList, useKeys } from '../controls/keyboard.ts';
import { playbackActs, Transport, useTransport } from '../controls/transport.tsx';
import { unaligned } from '../derive/align.ts';
import { framesOfSide, laneKey, type Side, sides } from '../derive/pair.ts';
import { lessonOfRun } from '../derive/run-index.ts';
import type { FrameSource } from '../derive/types.ts';
import { linkTo, stepAfter } from '../navigation/navigation.ts';
import { elsewhere, frontPage, type Place } from '../navigation/place.ts';
import { type Go, useIdle, useNavigation, useSettled } from '../navigation/use-navigation.ts';
import { HelpDialog } from '../panels/dialogs.tsx';
import { AxisLine, JumpLine } from '../panels/lane-header.tsx';
import { Legend } from '../panels/legend.tsx';
import { Notices } from '../panels/notices.tsx';
import { TopBar } from '../panels/top-bar.tsx';
import { type Playback, usePlayback, useRunIndex } from '../playback/hooks.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { type Comparison, Differences, Figures } from '../runs/saved-runs.tsx';
import { useTheme } from '../ui/theme.ts';
import { viewOf } from '../views/registry.ts';
import { CompareLane, CompareStrip } from './compare-view-lane.tsx';
import { CompareWords } from './compare-view-words.tsx';
import type { Runs } from './runs.ts';

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly runs: Runs;
  readonly found: Comparison;
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
}

/** Keys of the lesson page that mean nothing here. */
const without: ReadonlySet<Act> = new Set<Act>([
  ...(['scope', 'questions', 'caveats', 'knobs', 'present'] as const),
]);

export function CompareViewPage(props: Props) {
  const { scene, arms, runs, found, place, visit } = props;
  const go = useOwnGo(props.go, place);
  const theme = useTheme();
  const plain = usePlayback('page');
  const playback = usePlayback();
  const index = useRunIndex();
  // What an operation is, both runs have in common; see unlike().
  const lesson = lessonOfRun(props.lesson, index?.workload ?? '');
  const [help, setHelp] = useState(false);
  const whole = useSettled(index);
  const first = { run: place.run, step: place.step };
  const { settled, usual } = useNavigation(
    { lesson, scene, place, visit, index, whole, runs: null },
    { playback: plain, go: props.go, first },
  );
  const seen = { lesson, scene, arms, place, run: place.run, ready: settled, veiled: false };
  useInCompare({ ...seen, playback: plain });
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
      <ShownBar {...{ lesson, place }} />
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

function Head({ lesson, found, place, go }: Pick<Props, 'lesson' | 'found' | 'place' | 'go'>) {
  return (
    <section className="beside-head" aria-label={t('What they differ in')}>
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
}: Pick<Props, 'lesson' | 'scene'> & { readonly onStep: (step: string) => void }) {
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

interface LanesProps extends Pick<Props, 'lesson' | 'scene' | 'arms' | 'runs' | 'found'> {
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

/** The lesson as axis and scrubber are given it: each arm twice, once of each run. */
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

/** A view that is as high with two lanes as with one stands them in columns, and so do we. */
function laidBeside(lesson: Lesson, scene: Scene, runs: Runs): boolean {
  const whole = runs.index('first');
  const [lane] = whole?.lanes ?? [];
  if (!whole || !lane) return false;
  const high = (lanes: readonly (typeof lane)[]) =>
    viewOf(lesson.view).preferredHeight({ ...whole, lanes }, lesson, scene.show);
  return high([lane, lane]) < 1.3 * high([lane]);
}
