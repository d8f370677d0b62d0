// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Shows a recorded scene of a lesson, on the front page and in the gallery. Each exhibit has its own store and socket.
 */

import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { bestRecording, recordingId } from '../derive/recording.ts';
import { lessonOfRun } from '../derive/run-index.ts';
import type { RunIndex } from '../derive/types.ts';
import { useSettled } from '../navigation/use-navigation.ts';
import { PlaybackProvider, usePlayback, useRunIndex } from '../playback/hooks.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { connect } from '../store/connect.ts';
import { StoreProvider, useCommands, useLesson, useRun } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';
import { useTheme } from '../ui/theme.ts';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { useView, viewOf } from '../views/registry.ts';

/** The props of an exhibit's content, which exist once the recording has loaded. */
export interface Shown {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly index: RunIndex;
  readonly recordedAt: string | null;
}

interface Props {
  readonly slug: string;
  /** Selects the scene. Called after the lesson has arrived. */
  readonly pick: (lesson: Lesson) => Scene;
  /** Wraps the picture, for example to add a choice of scenes. Called after the lesson has arrived. */
  readonly frame?: (lesson: Lesson, scene: Scene, picture: ReactNode) => ReactNode;
  readonly children: (shown: Shown) => ReactNode;
}

/** Each exhibit has its own store, so that the run of one exhibit does not replace the run of another. */
export function Exhibit(props: Props) {
  const [store] = useState(() => new Store());
  useLayoutEffect(() => {
    const socket = connect(store);
    return () => socket.close();
  }, [store]);
  return (
    <StoreProvider store={store}>
      <Opened {...props} />
    </StoreProvider>
  );
}

function Opened({ slug, pick, frame, children }: Props) {
  const lesson = useLesson();
  const { open } = useCommands();
  useEffect(() => open(slug, 'none'), [open, slug]);
  const scene = lesson === null ? null : pick(lesson);
  const best = lesson === null || scene === null ? null : bestRecording(lesson, scene);
  const wanted = lesson === null || best === null ? null : recordingId(lesson, best);
  useEffect(() => {
    if (wanted !== null) open(slug, wanted);
  }, [open, slug, wanted]);
  const view = useView(lesson);
  if (lesson === null || scene === null || view === undefined)
    return <p className="quiet small">{t('loading…')}</p>;
  if (view === null)
    return <p role="alert">{t('No view of kind {view}.', { view: lesson.view })}</p>;
  const picture =
    wanted === null ? (
      <p className="quiet small">{t('This lesson has no recording yet.')}</p>
    ) : (
      <PlaybackProvider arms={scene.arms}>
        <Placed {...{ lesson, scene, wanted }}>{children}</Placed>
      </PlaybackProvider>
    );
  return frame?.(lesson, scene, picture) ?? picture;
}

interface PlacedProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly wanted: string;
  readonly children: Props['children'];
}

/** Goes to the scene's moment, and pauses playback there. */
function Placed({ lesson, scene, wanted, children }: PlacedProps) {
  const index = useRunIndex();
  const run = useRun();
  const settled = useSettled(index?.runId === wanted ? index : null);
  const { goto, align } = usePlayback();
  // This effect must run before the effects of child components, which may start playback.
  useLayoutEffect(() => {
    if (!settled) return;
    align(scene.align, scene.operation);
    goto(scene, true);
  }, [settled, scene, goto, align]);
  if (index === null || !settled || run?.run_id !== wanted) {
    return <p className="quiet small">{t('Loading the recording…')}</p>;
  }
  return children({
    ...{ scene, index, recordedAt: run.recorded_at },
    lesson: lessonOfRun(lesson, index.workload),
  });
}

/** The lanes of a scene with their names. Playback repeats the window of the scene. */
export function ExhibitLanes({
  lesson,
  scene,
  index,
  moving,
}: Shown & { readonly moving: boolean }) {
  const theme = useTheme();
  const { frame, goto, pause } = usePlayback();
  useEffect(() => {
    if (moving) goto(scene);
    else pause();
  }, [moving, scene, goto, pause]);
  return (
    <LaneCanvas
      view={viewOf(lesson.view)}
      runIndex={index}
      lesson={lesson}
      frame={frame}
      theme={theme}
      show={scene.show}
      header={(arm) => (
        <p className="preview-lane">{lesson.arms.find((a) => a.name === arm)?.title ?? arm}</p>
      )}
      headerHeight={22}
    />
  );
}
