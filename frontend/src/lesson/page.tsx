// SPDX-License-Identifier: GPL-2.0-or-later
/** The lesson page: asks for the lesson and for the recording that fits the step, and waits in words. */

import { useEffect, useState } from 'react';
import { must } from '../base/assert.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import {
  useCommands,
  useConnection,
  useErrors,
  useLesson,
  useNumbers,
  usePendingRun,
  useRun,
} from '../store/hooks.tsx';
import { Mark } from '../ui/icons.tsx';
import { PlaybackProvider } from '../views/hooks.tsx';
import { allViews } from '../views/registry.ts';
import { Desk } from './desk.tsx';
import { isKept } from './kept-list.ts';
import { Notices } from './notices.tsx';
import { NumbersPage } from './numbers.tsx';
import type { Place } from './place.ts';
import { presentArms } from './present.tsx';
import { bestRecording, recordingId, runIdOf } from './recording.ts';
import type { Go } from './use-place.ts';

interface Props {
  readonly slug: string;
  readonly place: Place;
  readonly go: Go;
  /** See usePlace. */
  readonly visit?: number;
}

/** The step that an address names; an unknown one is the first. */
export function sceneOf(lesson: Lesson, step: string | null): Scene {
  return lesson.scenes.find((s) => s.id === step) ?? must(lesson.scenes[0], 'a scene');
}

export function LessonPage({ slug, place, go, visit = 0 }: Props) {
  const lesson = useLesson();
  const numbers = useNumbers();
  const { open } = useCommands();
  useEffect(() => open(slug), [open, slug]);
  if (numbers?.slug === slug)
    return <NumbersPage lesson={numbers} onFront={() => go({ lesson: null })} />;
  if (lesson?.slug !== slug) return <Waiting slug={slug} onFront={() => go({ lesson: null })} />;
  if (!allViews().has(lesson.view))
    return <NoView lesson={lesson} onFront={() => go({ lesson: null })} />;
  return <Shown {...{ lesson, place, go, visit }} />;
}

/** The server knows a view that this page does not have: one of the two is older. */
function NoView({ lesson, onFront }: { readonly lesson: Lesson; readonly onFront: () => void }) {
  return (
    <main className="front" data-testid="no-view">
      <p className="lead" role="alert">
        The lesson “{lesson.title}” is drawn by a view called {lesson.view}, which this page does
        not have. Reload the page; if that does not help, build it again with “make run”.
      </p>
      <button type="button" className="button" onClick={onFront}>
        all lessons
      </button>
    </main>
  );
}

function Shown({
  lesson,
  place,
  go,
  visit = 0,
}: Omit<Props, 'slug'> & { readonly lesson: Lesson }) {
  const scene = sceneOf(lesson, place.step);
  const awaiting = useWantedRun(lesson, scene, place.run, go);
  const arms = place.arms?.filter((a) => lesson.arms.some((b) => b.name === a)) ?? [];
  const chosen = arms.length > 0 ? arms : scene.arms;
  const shown = place.present ? presentArms(lesson, scene, chosen) : chosen;
  return (
    <PlaybackProvider arms={shown}>
      <Desk {...{ lesson, scene, place, go, visit, awaiting }} arms={shown} />
    </PlaybackProvider>
  );
}

/** A run that does not come in this time is not waited for any more. A busy server reads a recording for seconds. */
const patienceMs = 30_000;

/**
 * The run that the address names; without one, a step that speaks of other knobs than the recording on the stage gets
 * the one that fits best. True while it is on its way.
 */
function useWantedRun(lesson: Lesson, scene: Scene, named: string | null, go: Go): boolean {
  const { open } = useCommands();
  const run = useRun();
  const pending = usePendingRun();
  const best = bestRecording(lesson, scene);
  const fitting = best ? recordingId(lesson, best) : null;
  const wanted = named === null ? fitting : runIdOf(lesson, named);
  const sure = lesson.recordings.some((recording) => recording.name === named);
  // A kept run stays on the stage from step to step, as a live one does.
  const free = named !== null || run === null || (run.source === 'recorded' && !isKept(run.run_id));
  const shown = run?.run_id ?? null;
  const asks = wanted !== null && free && pending?.source !== 'live' && shown !== wanted;
  const [lost, setLost] = useState<string | null>(null);
  useEffect(() => {
    if (!asks || wanted === null) return;
    open(lesson.slug, wanted);
    // A link's recording is there, however long a busy server takes to read it: its moment is of no other run.
    if (sure) return;
    const timer = setTimeout(() => {
      setLost(wanted);
      // The server has said why. A moment of a run that is gone means nothing in another one.
      if (named !== null) go({ run: null, moment: null, window: null, nth: null }, 'replace');
    }, patienceMs);
    return () => clearTimeout(timer);
  }, [open, go, lesson.slug, named, sure, wanted, asks]);
  return asks && lost !== wanted;
}

function Waiting({ slug, onFront }: { readonly slug: string; readonly onFront: () => void }) {
  const connection = useConnection();
  const { list } = useErrors();
  return (
    <main className="front">
      <header>
        <a
          className="brand"
          href="?"
          onClick={(event) => {
            event.preventDefault();
            onFront();
          }}
        >
          <Mark /> Kernel Duet
        </a>
      </header>
      <p className="lead" role="status">
        {list.length > 0
          ? `The lesson “${slug}” could not be opened.`
          : connection.state === 'open'
            ? 'The lesson is on its way…'
            : 'Looking for the server…'}
      </p>
      <Notices empty />
    </main>
  );
}
