// SPDX-License-Identifier: GPL-2.0-or-later
/** One lane of one of two runs, and the badges of each run: source, clock, losses, lenses. */

import { type CSSProperties, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { useModel } from '../controls/run-controls.tsx';
import { laneKey, type Side } from '../derive/pair.ts';
import { pickLanes } from '../derive/run-index.ts';
import type { FrameSource } from '../derive/types.ts';
import { knobsAt } from '../navigation/knobs.ts';
import type { Place } from '../navigation/place.ts';
import { LiveLaneHeader } from '../page/stage.tsx';
import {
  LensList,
  LossList,
  StateStrip,
  useKernel,
  useLenses,
  useLosses,
} from '../panels/state-strip.tsx';
import { type Playback, useCounts } from '../playback/hooks.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { contendedOf } from '../runs/runs-line.tsx';
import type { Comparison } from '../runs/saved-runs.tsx';
import { StoreProvider, useLanes, useRun } from '../store/hooks.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { day } from '../ui/words.ts';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { viewOf } from '../views/registry.ts';
import type { Runs } from './runs.ts';

interface StripProps {
  readonly side: Side;
  readonly runs: Runs;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
}

/** What is always said of a run, once for each of the two. */
export function CompareStrip(props: StripProps) {
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
  /** The arm. */
  readonly name: string;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly runs: Runs;
  readonly found: Comparison;
  readonly theme: Theme;
  readonly frame: FrameSource;
  readonly playback: Playback;
}

export function CompareLane(props: LaneProps) {
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

/** What tells a lane from its other: day, and what differs of knobs, kernel and host. */
export function laneWords(found: Comparison, side: Side, arm: string): string {
  const at = side === 'first' ? 0 : 1;
  const differs = found.differences
    .filter((d) => (d.arm === '' || d.arm === arm) && ['run', 'kernel', 'host'].includes(d.of))
    .filter((d) => d.what !== 'arms')
    .map((d) => `${d.what} ${at === 0 ? d.recorded : d.now}`);
  return [day(found.sides[at]?.created ?? ''), ...differs.slice(0, 3)].filter(Boolean).join(' · ');
}
