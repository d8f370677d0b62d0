// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson that is there: story, stage, side and transport, wired to the store and the playback. */

import { useMemo, useState } from 'react';
import { siteOf } from '../base/site.ts';
import { ActBar } from '../controls/act-bar.tsx';
import { HoldBar, mayAct } from '../controls/hold-bar.tsx';
import { type Act, keyList, useKeys } from '../controls/keyboard.ts';
import { type ArmState, KnobDesk } from '../controls/run-controls.tsx';
import { Transport } from '../controls/transport.tsx';
import { useModel } from '../controls/use-model.ts';
import { operationsOfAll, together, unaligned } from '../derive/align.ts';
import { isWait, laneOf } from '../derive/query.ts';
import { bestRecording, runNameOf } from '../derive/recording.ts';
import { momentWords } from '../derive/retime.ts';
import type { Mark, RunIndex } from '../derive/types.ts';
import { elsewhere, frontPage, type Pane, type Place, writePlace } from '../navigation/place.ts';
import type { Go } from '../navigation/use-place.ts';
import { nthOf, placeAt, useAddress, useIdle, useScene } from '../navigation/use-scene.ts';
import { AxisLine } from '../panels/axis-line.tsx';
import { CaveatSheet, HelpSheet, Questions, RecordsSheet } from '../panels/dialogs.tsx';
import { Legend } from '../panels/legend.tsx';
import { LensList } from '../panels/lens-badge.tsx';
import { LaneErrors, Notices } from '../panels/notices.tsx';
import { answeredBy, keptFile, type Pointed } from '../panels/predict.ts';
import { PredictCard } from '../panels/predict-card.tsx';
import { LossList, StateStrip } from '../panels/state-strip.tsx';
import { TopBar } from '../panels/top-bar.tsx';
import { useKept } from '../panels/use-answers.ts';
import { useKernel, useLenses, useLosses } from '../panels/use-losses.ts';
import { WordsPanel } from '../panels/words-panel.tsx';
import { pointsAt, usePlayback, usePrediction, useSentence } from '../playback/hooks.ts';
import { useRunIndex } from '../playback/provider.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { ReadingMessage, RunMessage } from '../protocol/messages.ts';
import { ContendedNotice, canCount } from '../runs/contended.tsx';
import { contendedOf, unjudged } from '../runs/contention.ts';
import {
  type Knobs,
  knobPlace,
  knobsAt,
  knobWords,
  onClock,
  runParams,
  sceneKnobs,
  sceneParams,
} from '../runs/knobs.ts';
import { Mismatch } from '../runs/mismatch.tsx';
import { buildPhase, lanePhase } from '../runs/phase.ts';
import { RunsLine } from '../runs/runs-line.tsx';
import { isKept } from '../runs/saved-list.ts';
import { KeptRunsSheet } from '../runs/saved-runs.tsx';
import {
  useBuild,
  useCommands,
  useConnection,
  useControl,
  useHello,
  useHolds,
  useLanes,
  useMeasured,
  usePendingRun,
  useReading,
  useRun,
  useRuns,
  useShownLanes,
} from '../store/hooks.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { chooseTheme, useTheme } from '../ui/theme.ts';
import { evidenceWords } from '../ui/words.ts';
import { Overview } from '../views/overview/index.tsx';
import { Embed } from './embed.tsx';
import { PresentFoot, PresentTop } from './present.tsx';
import { hasSide, Side } from './side-panel.tsx';
import { Stage } from './stage.tsx';
import { Story } from './story.tsx';

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly visit: number;
  /** Another recording was asked for and is on its way. */
  readonly awaiting: boolean;
}

type Sheet = 'help' | 'caveats' | 'losses' | 'lens' | 'runs' | null;

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
]);

/** Fewer runs of an arm give no verdict. */
const repeats = 5;

const liveBusy: readonly RunMessage['phase'][] = [
  'preparing',
  'booting',
  'ready',
  'running',
  'draining',
];

export function Desk({ lesson, scene, arms, place, go, visit, awaiting }: Props) {
  const theme = useTheme();
  const run = useRun();
  const pending = usePendingRun();
  const reading = useReading();
  const lanes = useLanes();
  const shownLanes = useShownLanes();
  const builds = useBuild();
  const measured = useMeasured();
  const control = useControl();
  const runs = useRuns();
  const holds = useHolds();
  const connection = useConnection();
  const hello = useHello();
  const commands = useCommands();
  const index = useRunIndex();
  const playback = usePlayback();
  const sentence = useSentence(scene.sentence);
  const answer = usePrediction(scene.predict);
  const losses = useLosses(lesson, arms);
  const lenses = useLenses(lesson, arms);
  const kernel = useKernel();
  const [kept, keep] = useKept(lesson.slug);
  const { knobs: turned, clock, workload } = place;
  const knobs = useMemo(
    () => knobsAt(lesson, scene, { knobs: turned, clock, workload }),
    [lesson, scene, turned, clock, workload],
  );
  const [sheet, setSheet] = useState<Sheet>(null);
  const [asking, setAsking] = useState<number | null>(null);
  const [said, setSaid] = useState('');
  const [records, setRecords] = useState<Mark | null>(null);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());

  const isOpen = (pane: Pane) => place.panes.includes(pane);
  const [words, questions] = [isOpen('words'), isOpen('questions')];
  const toggle = (pane: Pane, open = !isOpen(pane)) => {
    const others = place.panes.filter((one) => one !== pane);
    go({ panes: open ? [...others, pane] : others }, 'replace');
  };

  useModel(lesson, knobs);
  const apart = unaligned(lesson);
  const asked = apart === null ? place : { ...place, align: null };
  const at = useScene(scene, awaiting ? null : index, playback, asked, visit);
  const { whole, settled, usualSpeed } = at;
  const usual = { speed: usualSpeed, align: scene.align, nth: nthOf(scene.align, scene) };
  const coming = pending?.source === 'live';
  const runName = run === null || coming ? null : runNameOf(lesson, run.run_id);
  useAddress(playback, usual, runName, settled && !awaiting, go);

  const recorded = run?.source === 'recorded';
  const live = run?.source === 'live';
  const goesOn = live && liveBusy.includes(run.phase);
  const own = runs?.live.find((one) => one.yours && one.purpose === 'explain') ?? null;
  /** The run that "stop" ends: what this visitor controls on the stage, else his own. */
  const stoppable =
    goesOn && control?.run_id === run.run_id && mayAct(control) ? run.run_id : own?.run_id;
  const running = pending?.source === 'live' || stoppable !== undefined;
  const moving = playback.state.mode !== 'paused';
  useIdle(whole && !moving && !coming && !goesOn && connection.state === 'open');

  const armTitle = (name: string) => lesson.arms.find((a) => a.name === name)?.title ?? name;
  const missing = run ? arms.filter((a) => !run.arms.includes(a)) : [];
  const best = bestRecording(lesson, scene);
  const prediction = scene.predict ? lesson.predictions[scene.predict] : undefined;
  const guess = scene.predict ? (kept.guesses[scene.predict] ?? null) : null;
  const veiled =
    prediction !== undefined &&
    guess === null &&
    !place.present &&
    !place.embed &&
    place.moment === null &&
    !seen.has(scene.id);
  const blocked =
    connection.state !== 'open'
      ? 'There is no connection to the server now.'
      : hello?.live === false
        ? siteOf()
          ? 'This page plays a recording; it has no server that could run kernels.'
          : 'This server shows recordings only; its guests are switched off.'
        : '';

  const contended = contendedOf(lesson, run, shownLanes);
  const step = (id: string) => {
    setAsking(null);
    setSaid('');
    const to = lesson.scenes.find((one) => one.id === id) ?? scene;
    go({ ...elsewhere, ...knobPlace(lesson, to, sceneKnobs(lesson, knobs, to)), step: id });
  };
  const stepBy = (by: 1 | -1) => {
    const to = lesson.scenes[lesson.scenes.indexOf(scene) + by];
    if (to) step(to.id);
  };
  const takeKnobs = (asked: Knobs) => {
    const next =
      asked.clock === wish.clock
        ? asked
        : { ...asked, ...onClock(lesson, scene, { ...asked, clock: wish.clock }, asked.clock) };
    const changed = next.arms.join() !== arms.join() ? { arms: next.arms } : {};
    go({ ...changed, ...knobPlace(lesson, scene, next) }, 'replace');
  };
  const wish = { ...knobs, arms };
  const choice = {
    lesson: lesson.slug,
    arms,
    workload: wish.workload,
    params: runParams(lesson, wish),
    clock: wish.clock,
  };
  /** The run that was looked at, and its moment, give way to the one that begins. */
  const letGo = () => go({ run: null, moment: null, window: null }, 'replace');
  /** Whoever sees the stage goes on seeing it: the curtain does not come back over the own run. */
  const stayOpen = () => {
    if (!veiled) setSeen(new Set([...seen, scene.id]));
  };
  const start = (with_: Knobs = wish) => {
    letGo();
    stayOpen();
    const { workload, clock } = with_;
    commands.start({ ...choice, params: runParams(lesson, with_), workload, clock });
  };
  /** The step as it stands, where the host cannot disturb it. */
  const startOnCount = () => {
    const next = onClock(lesson, scene, wish, 'count');
    go({ run: null, moment: null, window: null, ...knobPlace(lesson, scene, next) }, 'replace');
    stayOpen();
    commands.start({ ...choice, params: runParams(lesson, next), clock: next.clock });
  };

  const onMark = (mark: Mark | null) => {
    playback.select(mark);
    if (!mark) return;
    const question = asking === null ? undefined : lesson.questions[asking];
    if (question && asking !== null && index) {
      if (pointsAt(index, mark, question)) {
        setSaid('');
        keep(answeredBy(kept, asking, pointedAt(index, mark)));
        const next = lesson.questions.findIndex(
          (_q, i) => i > asking && !kept.answered.includes(i),
        );
        setAsking(next < 0 ? null : next);
      } else
        setSaid(
          `That is “${index.kinds[mark.kind]?.title ?? lesson.operation.name}” on ${armTitle(mark.arm)}. Look again.`,
        );
      return;
    }
    playback.pause();
    setRecords(guestMark(index, mark));
  };

  const keys = useMemo(
    () => keyList(lesson.operation.name, lesson.beat?.name, unaligned(lesson) === null),
    [lesson],
  );
  const acts: Record<Act, () => void> = {
    toggle: playback.toggle,
    backwards: playback.backwards,
    'beat-back': () => playback.beat(-1),
    'beat-on': () => playback.beat(1),
    'event-back': () => playback.event(-1),
    'event-on': () => playback.event(1),
    'step-back': () => stepBy(-1),
    'step-on': () => stepBy(1),
    slower: () => playback.setSpeed(playback.now().speed / 1.5),
    faster: () => playback.setSpeed(playback.now().speed * 1.5),
    'long-wait': playback.nextLongWait,
    divergence: playback.firstDivergence,
    loss: playback.nextLoss,
    'align-time': () => playback.align('time'),
    'align-operation': () => playback.align('operation'),
    'align-marker': () => playback.align('marker'),
    scope: playback.scope,
    words: () => toggle('words'),
    questions: () => toggle('questions'),
    caveats: () => setSheet('caveats'),
    knobs: () => toggle('knobs'),
    present: () => go({ present: !place.present }, 'replace'),
    theme: () => chooseTheme(theme.name === 'dark' ? 'light' : 'dark'),
    deselect: () => {
      playback.select(null);
      setAsking(null);
    },
    help: () => setSheet('help'),
  };
  useKeys(keys, (act) => {
    if (settled || !ofTime.has(act)) acts[act]();
  });

  const armStates: ArmState[] = lesson.arms.map((arm) => {
    const lane = lanes.find((l) => l.arm === arm.name) ?? null;
    const build = builds.find((b) => b.arm === arm.name) ?? null;
    const building = buildPhase(build)?.words;
    const built = (lesson.ready[arm.name] ?? false) || build?.phase === 'done';
    const alive =
      lane && (live || pending) && lane.phase !== 'waiting'
        ? lanePhase(lane, build, false).words
        : '';
    return {
      name: arm.name,
      words: siteOf()
        ? ''
        : alive || building || (built ? 'kernel built' : 'not built yet: run builds it'),
    };
  });

  const failed = lesson.arms
    .map((arm) => {
      const lane = lanes.find((l) => l.arm === arm.name) ?? null;
      const build = builds.find((b) => b.arm === arm.name) ?? null;
      return { arm, phase: lanePhase(lane, build, recorded, pending !== null) };
    })
    .filter(({ phase }) => phase.bad);

  /** Aligns at an operation and goes to where it happens on every lane at once. */
  const alignAt = (n: number) => {
    const by = playback.state.alignment;
    const at = index && together(index, by, n).at;
    playback.align(by, n);
    if (at !== null) playback.seek(at);
  };

  const address = () => {
    const now = playback.now();
    const to = writePlace(
      {
        ...place,
        ...placeAt({ ...now, mode: 'paused' }, usual, runName),
        step: scene.id,
        speed: now.speed,
        arms,
        align: now.alignment,
        present: false,
        embed: false,
      },
      location.search,
    );
    return `${location.origin}${location.pathname}${to}`;
  };

  const veil = veiled && (
    <div className="stage-veil" data-testid="veil">
      <p>First say what you expect; then look.</p>
      <button
        type="button"
        className="button"
        onClick={() => setSeen(new Set([...seen, scene.id]))}
      >
        just show me
      </button>
    </div>
  );
  const stage = (
    <Stage
      lesson={lesson}
      scene={scene}
      arms={arms}
      index={index}
      run={run}
      lanes={lanes}
      builds={builds}
      pending={pending !== null}
      shown={shownLanes}
      coming={coming ? '' : comingWords(reading, run, awaiting)}
      theme={theme}
      present={place.present}
      veil={veil}
      onMark={onMark}
      onLoss={() => setSheet('losses')}
    />
  );
  const busy = (
    <ContendedNotice
      found={contended}
      offers={canCount(lesson, scene)}
      blocked={running ? 'A live run is going on.' : blocked}
      onCount={startOnCount}
    />
  );
  const sheets = (
    <>
      <HelpSheet keys={keys} open={sheet === 'help'} onClose={() => setSheet(null)} />
      <CaveatSheet lesson={lesson} open={sheet === 'caveats'} onClose={() => setSheet(null)} />
      <Dialog
        title="Lost events"
        open={sheet === 'losses'}
        onClose={() => setSheet(null)}
        testId="losses"
      >
        <LossList lanes={losses} />
      </Dialog>
      <KeptRunsSheet
        lesson={lesson}
        open={sheet === 'runs'}
        shown={run?.run_id ?? null}
        onPlay={(id) => {
          setSheet(null);
          go({ ...elsewhere, run: id });
        }}
        onClose={() => setSheet(null)}
      />
      <Dialog
        title="Lenses"
        open={sheet === 'lens'}
        onClose={() => setSheet(null)}
        testId="lens-sheet"
      >
        <LensList lanes={lenses} />
      </Dialog>
      <RecordsSheet
        lesson={lesson}
        runId={run?.run_id ?? ''}
        mark={records}
        rowName={rowName(index, records)}
        recorded={recorded}
        onClose={() => setRecords(null)}
      />
      <p className="hidden-text" aria-live="polite" data-testid="spoken">
        {moving ? '' : `${scene.title}. ${sentence}`}
      </p>
    </>
  );

  if (place.embed)
    return (
      <Embed
        {...{ run, kernel, index, playback, sentence, address }}
        beat={lesson.beat?.name ?? lesson.operation.name}
      >
        <Notices />
        {stage}
        {sheets}
      </Embed>
    );

  if (place.present)
    return (
      <div className="lesson" data-present data-testid="present">
        <PresentTop lesson={lesson} scene={scene} run={run} kernel={kernel} />
        <Notices />
        <LaneErrors failed={failed} />
        {stage}
        <Legend lesson={lesson} scene={scene} theme={theme} />
        <p className="present-sentence" data-testid="sentence" data-volatile>
          <span className="evidence">{evidenceWords(sentence, recorded)}</span>
          {sentence}
        </p>
        <PresentFoot
          playback={playback}
          axis={index?.axis ?? null}
          onLeave={() => go({ present: false }, 'replace')}
        />
        {sheets}
      </div>
    );

  const showKnobs = scene.show.includes('knobs') !== isOpen('knobs');
  const lost = losses.reduce((sum, lane) => sum + lane.events, 0);
  const gaps = losses.reduce((sum, lane) => sum + lane.gapRows, 0);
  return (
    <div
      className="lesson"
      data-side={hasSide(lesson, scene) ? undefined : 'none'}
      data-testid="lesson"
    >
      <TopBar
        question={lesson.question}
        address={address}
        onFront={() => go({ ...frontPage })}
        onPresent={acts.present}
        onHelp={acts.help}
      />

      <Story
        lesson={lesson}
        scene={scene}
        prose={lesson.content[scene.id] ?? ''}
        note={(run?.clock ?? wish.clock) === 'count' ? (scene.on_count?.note ?? '') : ''}
        sentence={veiled ? '' : sentence}
        recorded={recorded}
        answered={kept.answered.length}
        mismatch={
          run && (
            <Mismatch
              lesson={lesson}
              scene={scene}
              run={run}
              missing={missing.map(armTitle)}
              blocked={running ? 'Your live run goes on.' : blocked}
              onRun={() => start(sceneKnobs(lesson, wish, scene))}
              onRecording={
                (live || isKept(run.run_id)) && best
                  ? () => go({ ...elsewhere, run: best.name })
                  : null
              }
            />
          )
        }
        predict={
          prediction && (
            <PredictCard
              prediction={prediction}
              guess={guess}
              answer={answer}
              unfit={unfit(lesson, scene, prediction.params, run) || unjudged(contended)}
              plural={lesson.operation.plural}
              onGuess={(i) =>
                keep({ ...kept, guesses: { ...kept.guesses, [scene.predict ?? '']: i } })
              }
              onForget={() => {
                const { [scene.predict ?? '']: _gone, ...guesses } = kept.guesses;
                keep({ ...kept, guesses });
              }}
            />
          )
        }
        predicted={prediction === undefined || guess !== null || seen.has(scene.id)}
        onStep={step}
        onCaveats={acts.caveats}
        onQuestions={acts.questions}
      >
        {questions && (
          <Questions
            lesson={lesson}
            file={() => keptFile(lesson, kept)}
            answered={kept.answered}
            asking={asking}
            said={said}
            onAsk={(i) => {
              setSaid('');
              setAsking(i);
              if (i === null) toggle('questions', false);
              else playback.pause();
            }}
            onForget={() => keep({ ...kept, answered: [], marks: {} })}
          />
        )}
      </Story>

      <main className="stage">
        <StateStrip
          run={run}
          kernel={kernel}
          lanes={arms.length}
          lost={lost}
          gaps={gaps}
          control={control}
          pending={pending ? pendingWords(pending) : ''}
          lenses={lenses}
          onLoss={() => setSheet('losses')}
          onLens={() => setSheet('lens')}
          onRuns={siteOf() ? undefined : () => setSheet('runs')}
          onControl={commands.control}
        />
        <Notices />
        {runs && !siteOf() && (
          <RunsLine
            lesson={lesson}
            runs={runs}
            shown={(pending ?? run)?.run_id ?? null}
            onWatch={(id) => go({ ...elsewhere, run: id })}
            onCancel={commands.stop}
            onRecording={best && live ? () => go({ ...elsewhere, run: best.name }) : null}
          />
        )}
        <LaneErrors failed={failed} />
        {busy}
        {showKnobs && (
          <KnobDesk
            lesson={lesson}
            knobs={wish}
            shown={run ? { ...run, arms: run.arms } : null}
            live={live}
            running={running}
            armStates={armStates}
            blocked={blocked}
            onKnobs={takeKnobs}
            onRun={() => start()}
            onStop={() => stoppable && commands.stop(stoppable)}
            onAgain={() => {
              letGo();
              commands.again();
            }}
          />
        )}
        <ActBar lesson={lesson} run={run} onAct={commands.act} />
        <HoldBar lesson={lesson} run={run} control={control} holds={holds} onHold={commands.hold} />
        {stage}
        {words && (
          <WordsPanel sentence={sentence} onMark={onMark} onClose={() => toggle('words', false)} />
        )}
        <AxisLine lesson={lesson} index={index} playback={playback} />
        <Legend lesson={lesson} scene={scene} theme={theme} />
      </main>

      {hasSide(lesson, scene) && (
        <Side
          lesson={lesson}
          scene={scene}
          arms={arms}
          index={index}
          recorded={recorded}
          theme={theme}
          veiled={veiled}
          measured={measured?.lesson === lesson.slug ? measured : null}
          blocked={running ? 'A live run is going on; measuring would disturb it.' : blocked}
          onMeasure={() => commands.measure(choice, repeats)}
          {...{ place, go }}
        />
      )}

      <Transport
        moving={moving}
        backwards={playback.state.direction < 0}
        moment={playback.state.moment}
        speed={playback.state.speed}
        align={playback.state.alignment}
        armed={playback.state.mode === 'scope'}
        live={live}
        empty={!settled}
        beat={lesson.beat?.name ?? lesson.operation.name}
        operation={lesson.operation.name}
        unaligned={apart}
        nth={scene.align === 'begin' ? scene.operation : null}
        at={{ n: playback.state.operation, most: index ? operationsOfAll(index) : 0 }}
        onAt={alignAt}
        axis={index?.axis ?? null}
        lanes={index?.lanes.length ?? 0}
        overview={
          index && (
            <Overview
              runIndex={index}
              lesson={lesson}
              frame={playback.frame}
              theme={theme}
              onWindow={playback.setWindow}
              onSeek={playback.seek}
              moment={playback.state.moment}
              words={momentWords(index.axis, playback.state.moment)}
            />
          )
        }
        onToggle={playback.toggle}
        onBackwards={playback.backwards}
        onEvent={playback.event}
        onBeat={playback.beat}
        onSpeed={playback.setSpeed}
        onAlign={(align) => playback.align(align, nthOf(align, scene))}
        onLongWait={lesson.kinds.some(isWait) ? playback.nextLongWait : null}
        onDivergence={playback.firstDivergence}
        onLoss={index?.lanes.some((lane) => lane.losses.length > 0) ? playback.nextLoss : null}
        onScope={playback.scope}
        onWords={acts.words}
      />
      {sheets}
    </div>
  );
}

/** That a recording is being read, and how far; empty while none is. */
function comingWords(
  reading: ReadingMessage | null,
  run: RunMessage | null,
  awaiting: boolean,
): string {
  if (reading === null || (!awaiting && reading.run_id !== run?.run_id)) return '';
  const share = reading.total > 0 ? Math.floor((100 * reading.read) / reading.total) : 0;
  return `reading the recording…${share > 0 ? ` ${share} %` : ''}`;
}

function pendingWords(run: RunMessage): string {
  if (run.source === 'recorded') return 'another recording is on its way';
  return (
    run.message || (run.phase === 'booting' ? 'guests are booting' : 'a live run is being prepared')
  );
}

/** Why the run on the stage cannot answer a prediction; empty when it can. */
function unfit(
  lesson: Lesson,
  scene: Scene,
  params: Readonly<Record<string, number>>,
  run: RunMessage | null,
): string {
  const there = run === null ? params : sceneParams({ ...scene, params }, run.clock);
  const asked = Object.keys(params).map((k) => [k, there[k] ?? 0] as const);
  const wrong = asked.filter(([k, v]) => run !== null && run.params[k] !== v);
  if (wrong.length === 0) return '';
  return `The run on the stage cannot answer: it takes one with ${wrong.map(([k, v]) => knobWords(lesson, k, v)).join(', ')}.`;
}

function pointedAt(index: RunIndex, mark: Mark): Pointed {
  const { arm, kind, t0, t1 } = guestMark(index, mark);
  const name = index.kinds[kind]?.name ?? '';
  return { run: index.runId, arm, kind: name, t0_ns: t0, t1_ns: t1, at: new Date().toISOString() };
}

/** A mark with its times in guest time, as raw records have them. */
function guestMark(index: RunIndex | null, mark: Mark): Mark {
  const lane = index && laneOf(index, mark.arm);
  if (!lane) return mark;
  return { ...mark, t0: lane.guestTime(mark.t0), t1: lane.guestTime(mark.t1) };
}

function rowName(index: ReturnType<typeof useRunIndex>, mark: Mark | null): string {
  const lane = index?.lanes.find((l) => l.arm === mark?.arm);
  return lane?.rows.find((r) => r.row === mark?.row)?.name ?? '';
}
