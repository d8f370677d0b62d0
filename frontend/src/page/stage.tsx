// SPDX-License-Identifier: GPL-2.0-or-later
/** The stage: all lanes on one axis, a header above each lane, and a message while there is nothing to draw. */

import { type CSSProperties, type ReactNode, useCallback } from 'react';
import { t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { askedSoon } from '../controls/transport.tsx';
import { unseenWords } from '../derive/sought.ts';
import type { Mark, RunIndex } from '../derive/types.ts';
import { JumpLine, LaneHeader } from '../panels/lane-header.tsx';
import { useCounts, usePlayback } from '../playback/hooks.tsx';
import { OverPicture } from '../plugins.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { BuildMessage, LaneMessage, RunMessage } from '../protocol/messages.ts';
import { contendedOf } from '../runs/runs-line.tsx';
import { useLines, useLoss, useMetrics, useReading } from '../store/hooks.tsx';
import type { Spotlight } from '../views/contract.ts';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { viewOf } from '../views/registry.ts';
import { type AskedLanes, useAskedLanes } from './prediction.tsx';
import { comingOf, type LessonModel } from './use-lesson-page.ts';

// Marks a scrollable box while there is more content below, so that style sheets can indicate this.

/** Minimum overflow that counts, px; a smaller overflow is a rounding error. */
const leastPx = 4;

/** A `ref` callback that sets `data-below` on the box while there is more content below. */
function useBelow(): (box: HTMLElement) => () => void {
  return useCallback((box: HTMLElement) => {
    const look = () =>
      box.toggleAttribute(
        'data-below',
        box.scrollHeight - box.clientHeight - box.scrollTop > leastPx,
      );
    const sizes = new ResizeObserver(look);
    // The observer looks for the first time after the browser's own layout, so no layout is forced here.
    const watch = () => {
      sizes.disconnect();
      for (const one of [box, ...box.children]) sizes.observe(one);
    };
    const parts = new MutationObserver(watch);
    watch();
    parts.observe(box, { childList: true });
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      box.removeEventListener('scroll', look);
      parts.disconnect();
      sizes.disconnect();
    };
  }, []);
}

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly index: RunIndex | null;
  readonly run: RunMessage | null;
  readonly lanes: readonly LaneMessage[];
  readonly builds: readonly BuildMessage[];
  readonly pending: boolean;
  /** Lanes of the run that is drawn. */
  readonly shown: readonly LaneMessage[];
  /** Whether lane headers hide operation counts, because a later step asks about them. */
  readonly uncounted?: boolean;
  /** Progress of the recording that is loading; empty if none is loading. */
  readonly coming: string;
  /** A warning that no window of the run shows the step's claim; empty if a window shows the claim. */
  readonly unseen: string;
  readonly theme: Theme;
  /** Height of the header above each lane, px; default 34. */
  readonly headerHeight?: number;
  /** The lanes to cover until the viewer has predicted; null if no lane is covered. */
  readonly asked: AskedLanes | null;
  readonly onMark: (mark: Mark | null) => void;
  readonly onLoss: () => void;
  /** An element that is shown over the picture of the lanes. */
  readonly over?: ReactNode;
  /** The mark or lane that an instructor highlights for the class. */
  readonly spotlight?: Spotlight | null;
}

function Stage(props: Props) {
  const { lesson, scene, arms, index, run, theme, asked } = props;
  const { frame, seek, view: onWindow } = usePlayback();
  const below = useBelow();
  const counts = useCounts();
  const distorted = contendedOf(lesson, run, props.shown)?.distorted ?? false;
  const header = (name: string) => {
    const arm = lesson.arms.find((a) => a.name === name);
    if (!arm) return null;
    const measured = props.shown.find((l) => l.arm === name)?.contention != null;
    const covered = asked !== null && !asked.known.includes(name);
    return (
      <LiveLaneHeader
        arm={arm}
        lane={props.lanes.find((l) => l.arm === name) ?? null}
        build={props.builds.find((b) => b.arm === name) ?? null}
        recorded={run?.source === 'recorded'}
        pending={props.pending}
        missing={run !== null && !run.arms.includes(name)}
        distorted={distorted && measured}
        ops={
          lesson.operation.open === null || props.uncounted || covered
            ? null
            : (counts.find((c) => c.arm === name)?.ops ?? null)
        }
        operation={lesson.operation}
        onLoss={props.onLoss}
      />
    );
  };
  const view = viewOf(lesson.view);
  const drawn = index?.lanes.map((lane) => lane.arm) ?? [];
  const undrawn = arms.filter((name) => !drawn.includes(name));
  const height = index === null ? 0 : view.preferredHeight(index, lesson, scene.show);
  const share = view.leastShare;
  const leastShare = typeof share === 'function' ? share(drawn.length) : share;
  const narrow = index === null ? null : (view.narrowHeight?.(index, lesson, scene.show) ?? null);
  return (
    <section
      ref={below}
      className="lanes"
      aria-label={t('Lanes')}
      data-testid="stage"
      data-run={index?.runId}
      style={
        {
          '--lanes-height': `${Math.round(height)}px`,
          ...(narrow === null ? {} : { '--lanes-narrow': `${narrow}px` }),
          '--least': leastShare,
        } as CSSProperties
      }
    >
      {props.unseen && (
        <p className="stage-unseen" role="status" data-testid="unseen">
          {props.unseen}
        </p>
      )}
      {asked === null && (
        <JumpLine {...{ lesson, index }} withheld={props.uncounted ? askedSoon : ''} />
      )}
      {index !== null && drawn.length > 0 && (
        <div className="lanes-canvas">
          <LaneCanvas
            view={view}
            runIndex={index}
            lesson={lesson}
            frame={frame}
            theme={theme}
            show={scene.show}
            {...(asked === null ? { sentence: scene.sentence } : { cover: asked.cover })}
            header={header}
            {...(props.headerHeight === undefined ? {} : { headerHeight: props.headerHeight })}
            onSelect={props.onMark}
            onSeek={seek}
            onWindow={onWindow}
            spotlight={props.spotlight ?? null}
          />
          {props.over}
        </div>
      )}
      {undrawn.map((name) => (
        <div key={name} className="undrawn">
          {header(name)}
        </div>
      ))}
      {props.coming && (
        <p className="stage-coming" role="status" data-testid="coming" data-volatile>
          {props.coming}
        </p>
      )}
      {asked !== null && !drawn.includes(asked.arm) && (
        <div className="stage-veil">{asked.cover(asked.arm)}</div>
      )}
    </section>
  );
}

type HeaderProps = Omit<Parameters<typeof LaneHeader>[0], 'lines' | 'lost' | 'total'>;

/** A lane header that is updated when the output, the losses or the counts of its guest change. */
export function LiveLaneHeader(props: HeaderProps) {
  const lines = useLines(props.arm.name);
  const { losses } = useLoss(props.arm.name);
  const metrics = useMetrics(props.arm.name);
  // Counts from a partly loaded recording are lower than those of the run, so they are not shown.
  const part = useReading() !== null;
  const lostEvents = losses.reduce((sum, loss) => sum + (loss.events ?? 1), 0);
  return (
    <LaneHeader
      {...props}
      total={part ? null : (metrics?.ops ?? null)}
      lines={lines.map((line) => line.text)}
      lost={Math.max(lostEvents, metrics?.events_lost ?? 0)}
    />
  );
}

// The stage of a lesson, which is covered until the viewer has predicted.

/** Height of the headers if there are many lanes, px. */
const lowHeader = 26;
const many = 3;

interface LessonStageProps {
  readonly page: LessonModel;
  readonly headerHeight?: number;
  /** Whether the page reports the recording's progress elsewhere, next to the picture. */
  readonly reports?: boolean;
}

export function LessonStage(props: LessonStageProps) {
  const { page } = props;
  const { lesson, scene, arms, index, theme, server, guess } = page;
  const low = arms.length > many ? lowHeader : null;
  const headerHeight = props.headerHeight ?? low;
  return (
    <Stage
      {...{ lesson, scene, arms, index, theme }}
      {...(headerHeight === null ? {} : { headerHeight })}
      run={server.run}
      lanes={server.lanes}
      builds={server.builds}
      pending={server.pending !== null}
      shown={server.shownLanes}
      uncounted={guess.spoils('counts') && !page.live}
      coming={props.reports ? '' : comingOf(page)}
      unseen={guess.veiled ? '' : unseenWords(index, scene, lesson, viewOf(lesson.view).moments)}
      asked={useAskedLanes(page)}
      onMark={page.onMark}
      onLoss={() => page.setDialog('losses')}
      spotlight={page.inLesson.spotlight}
      over={!guess.veiled && <OverPicture inLesson={page.inLesson} />}
    />
  );
}
