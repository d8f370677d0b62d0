// SPDX-License-Identifier: GPL-2.0-or-later
/** What two runs differ in, their lanes arm by arm, and one transport for all of them. */

import { useMemo, useState } from 'react';
import { type Act, keyList, useKeys } from '../controls/keyboard.ts';
import { Transport } from '../controls/transport.tsx';
import { operationsOfAll, together, unaligned } from '../derive/align.ts';
import { framesOfSide, laneKey, sides } from '../derive/pair.ts';
import { isWait } from '../derive/query.ts';
import { momentWords } from '../derive/retime.ts';
import { elsewhere, frontPage, type Place, writePlace } from '../navigation/place.ts';
import type { Go } from '../navigation/use-place.ts';
import { nthOf, placeAt, useAddress, useIdle, useScene } from '../navigation/use-scene.ts';
import { AxisLine } from '../panels/axis-line.tsx';
import { HelpSheet } from '../panels/dialogs.tsx';
import { Legend } from '../panels/legend.tsx';
import { Notices } from '../panels/notices.tsx';
import { TopBar } from '../panels/top-bar.tsx';
import { usePlayback } from '../playback/hooks.ts';
import { useRunIndex } from '../playback/provider.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { Differences, Figures } from '../runs/differences.tsx';
import type { Comparison } from '../runs/saved-list.ts';
import { chooseTheme, useTheme } from '../ui/theme.ts';
import { Overview } from '../views/overview/index.tsx';
import { viewOf } from '../views/registry.ts';
import type { Runs } from './compare-view.tsx';
import { BesideLane, BesideStrip } from './compare-view-lane.tsx';
import { BesideWords } from './compare-view-words.tsx';

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

export function BesideDesk({ lesson, scene, arms, runs, found, place, go, visit }: Props) {
  const theme = useTheme();
  const playback = usePlayback();
  const index = useRunIndex();
  const [help, setHelp] = useState(false);
  const apart = unaligned(lesson);
  const asked = apart === null ? place : { ...place, align: null };
  const { settled, usualSpeed } = useScene(scene, index, playback, asked, visit);
  const usual = { speed: usualSpeed, align: scene.align, nth: nthOf(scene.align, scene) };
  useAddress(playback, usual, place.run, settled, go);
  const moving = playback.state.mode !== 'paused';
  useIdle(settled && !moving);
  const words = place.panes.includes('words');
  const onWords = () => go({ panes: words ? [] : ['words'] }, 'replace');
  const both = useMemo(() => titled(lesson, arms), [lesson, arms]);
  const frames = useMemo(() => {
    const of = (side: 'first' | 'second') => framesOfSide(playback.frame, side, () => index);
    return { first: of('first'), second: of('second') };
  }, [playback.frame, index]);
  const toStep = (by: number) => {
    const next = lesson.scenes[lesson.scenes.indexOf(scene) + by];
    if (next) go({ ...elsewhere, run: place.run, beside: place.beside, step: next.id });
  };
  const keys = useMemo(
    () =>
      keyList(lesson.operation.name, lesson.beat?.name, apart === null).filter(
        (key) => !without.has(key.act),
      ),
    [lesson, apart],
  );
  const acts: Partial<Record<Act, () => void>> = {
    toggle: playback.toggle,
    backwards: playback.backwards,
    'beat-back': () => playback.beat(-1),
    'beat-on': () => playback.beat(1),
    'event-back': () => playback.event(-1),
    'event-on': () => playback.event(1),
    'step-back': () => toStep(-1),
    'step-on': () => toStep(1),
    slower: () => playback.setSpeed(playback.now().speed / 1.5),
    faster: () => playback.setSpeed(playback.now().speed * 1.5),
    'long-wait': playback.nextLongWait,
    divergence: playback.firstDivergence,
    loss: playback.nextLoss,
    'align-time': () => playback.align('time'),
    'align-operation': () => playback.align('operation'),
    'align-marker': () => playback.align('marker'),
    words: onWords,
    theme: () => chooseTheme(theme.name === 'dark' ? 'light' : 'dark'),
    deselect: () => playback.select(null),
    help: () => setHelp(true),
  };
  useKeys(keys, (act) => acts[act]?.());
  const alignAt = (n: number) => {
    const by = playback.state.alignment;
    const at = index && together(index, by, n).at;
    playback.align(by, n);
    if (at !== null) playback.seek(at);
  };
  const address = () => {
    const now = playback.now();
    const at = placeAt({ ...now, mode: 'paused' }, usual, place.run);
    const to = { ...place, ...at, step: scene.id, align: now.alignment, speed: now.speed };
    return `${location.origin}${location.pathname}${writePlace(to, location.search)}`;
  };
  if (index === null) return null;
  const operation = lesson.operation.name;
  return (
    <div className="lesson beside" data-testid="beside">
      <TopBar
        question={lesson.question}
        address={address}
        onFront={() => go({ ...frontPage })}
        onHelp={() => setHelp(true)}
      />
      <main className="beside-main">
        <section className="beside-head" aria-label="What they differ in">
          <h2>Two recordings of “{lesson.title}”</h2>
          <Differences lesson={lesson} found={found} />
          <p className="small">
            {sides.map((side) => (
              <button
                key={side}
                type="button"
                className="link small"
                onClick={() =>
                  go({ ...elsewhere, run: side === 'first' ? place.run : place.beside })
                }
                data-testid={`alone-${side}`}
              >
                the {side} alone
              </button>
            ))}
          </p>
        </section>
        <Notices />
        <div className="beside-runs">
          {sides.map((side) => (
            <BesideStrip key={side} {...{ side, runs, lesson, scene, arms, place }} />
          ))}
          <label className="small">
            as in the step{' '}
            <select
              value={scene.id}
              onChange={(event) =>
                toStep(
                  lesson.scenes.findIndex((s) => s.id === event.target.value) -
                    lesson.scenes.indexOf(scene),
                )
              }
              data-testid="beside-step"
            >
              {lesson.scenes.map((s) => (
                <option key={s.id} value={s.id}>
                  {s.title}
                </option>
              ))}
            </select>
          </label>
        </div>
        {arms.map((name) => (
          <section
            key={name}
            className="beside-arm"
            data-layout={laidBeside(lesson, scene, runs) ? 'columns' : 'rows'}
            aria-label={lesson.arms.find((arm) => arm.name === name)?.title ?? name}
          >
            {sides.map((side) => (
              <BesideLane
                key={side}
                {...{ side, name, lesson, scene, runs, found, theme, playback }}
                frame={frames[side]}
              />
            ))}
          </section>
        ))}
        <AxisLine lesson={both} index={index} playback={playback} />
        {words && <BesideWords {...{ lesson, arms, runs, frames, playback }} onClose={onWords} />}
        <Legend lesson={lesson} scene={scene} theme={theme} />
        <section className="beside-figures" aria-label="Figures">
          <Figures lesson={lesson} found={found} />
        </section>
      </main>
      <Transport
        moving={moving}
        backwards={playback.state.direction < 0}
        moment={playback.state.moment}
        speed={playback.state.speed}
        align={playback.state.alignment}
        armed={false}
        live={false}
        empty={!settled}
        beat={lesson.beat?.name ?? operation}
        operation={operation}
        unaligned={apart}
        nth={scene.align === 'begin' ? scene.operation : null}
        at={{ n: playback.state.operation, most: operationsOfAll(index) }}
        onAt={alignAt}
        axis={index.axis}
        lanes={index.lanes.length}
        overview={
          <Overview
            runIndex={index}
            lesson={both}
            frame={playback.frame}
            theme={theme}
            onWindow={playback.setWindow}
            onSeek={playback.seek}
            moment={playback.state.moment}
            words={momentWords(index.axis, playback.state.moment)}
          />
        }
        onToggle={playback.toggle}
        onBackwards={playback.backwards}
        onEvent={playback.event}
        onBeat={playback.beat}
        onSpeed={playback.setSpeed}
        onAlign={(align) => playback.align(align, nthOf(align, scene))}
        onLongWait={lesson.kinds.some(isWait) ? playback.nextLongWait : null}
        onDivergence={playback.firstDivergence}
        onLoss={index.lanes.some((lane) => lane.losses.length > 0) ? playback.nextLoss : null}
        onScope={playback.scope}
        onWords={onWords}
      />
      <HelpSheet keys={keys} open={help} onClose={() => setHelp(false)} />
    </div>
  );
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
