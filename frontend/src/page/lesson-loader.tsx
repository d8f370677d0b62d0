// SPDX-License-Identifier: GPL-2.0-or-later
/** The lesson page: asks for the lesson and for the recording that fits the step, and waits in words. */

import { useEffect, useRef, useState } from 'react';
import { must } from '../base/assert.ts';
import { bestRecording, recordingId, runIdOf } from '../derive/recording.ts';
import type { Place } from '../navigation/place.ts';
import type { Go } from '../navigation/use-place.ts';
import { NumbersPage } from '../numbers/numbers.tsx';
import { Notices } from '../panels/notices.tsx';
import { PlaybackProvider } from '../playback/provider.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { isKept } from '../runs/saved-list.ts';
import {
  useBegun,
  useCommands,
  useConnection,
  useErrors,
  useLesson,
  useLost,
  useNumbers,
  usePendingRun,
  useRun,
} from '../store/hooks.tsx';
import { Mark } from '../ui/icons.tsx';
import { allViews } from '../views/registry.ts';
import { Desk } from './lesson-page.tsx';
import { presentArms } from './present.tsx';

interface Props {
  readonly slug: string;
  readonly place: Place;
  readonly go: Go;
  /** See usePlace. */
  readonly visit?: number;
}

/** What of an address says which run is to be shown. */
type Wanted = Pick<Place, 'run' | 'step'>;

/** The step that an address names; an unknown one is the first. */
export function sceneOf(lesson: Lesson, step: string | null): Scene {
  return lesson.scenes.find((s) => s.id === step) ?? must(lesson.scenes[0], 'a scene');
}

export function LessonPage({ slug, place, go, visit = 0 }: Props) {
  const lesson = useLesson();
  const numbers = useNumbers();
  const { open } = useCommands();
  // Said at once, so that no other recording is read and sent first.
  const [first] = useState<Wanted>({ run: place.run, step: place.step });
  useEffect(() => open(slug, first.run, first.step), [open, slug, first]);
  if (numbers?.slug === slug)
    return <NumbersPage lesson={numbers} onFront={() => go({ lesson: null })} />;
  if (lesson?.slug !== slug) return <Waiting slug={slug} onFront={() => go({ lesson: null })} />;
  if (!allViews().has(lesson.view))
    return <NoView lesson={lesson} onFront={() => go({ lesson: null })} />;
  return <Shown {...{ lesson, place, go, visit, first }} />;
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
  first,
}: Omit<Props, 'slug'> & { readonly lesson: Lesson; readonly first: Wanted }) {
  const scene = sceneOf(lesson, place.step);
  const awaiting = useWantedRun(lesson, scene, place, first, go);
  const arms = place.arms?.filter((a) => lesson.arms.some((b) => b.name === a)) ?? [];
  const chosen = arms.length > 0 ? arms : scene.arms;
  const shown = place.present ? presentArms(lesson, scene, chosen) : chosen;
  return (
    <PlaybackProvider arms={shown}>
      <Desk {...{ lesson, scene, place, go, visit, awaiting }} arms={shown} />
    </PlaybackProvider>
  );
}

/** A run that does not come in this time is not waited for any more; a server says at once if it has none. */
const patienceMs = 30_000;

/**
 * The run that the address names; without one, a step that speaks of other knobs than the recording on the stage gets
 * the one that fits best. True while it is on its way.
 */
function useWantedRun(lesson: Lesson, scene: Scene, place: Place, first: Wanted, go: Go): boolean {
  const begun = useBegun();
  const [taken, setTaken] = useState(begun);
  // The server has moved this page to the run that it asked for; the address follows.
  const moved = begun !== taken ? begun : null;
  const named = moved ?? place.run;
  const { open } = useCommands();
  const run = useRun();
  const pending = usePendingRun();
  const { lost, forgive } = useLost();
  const best = bestRecording(lesson, scene);
  const fitting = best ? recordingId(lesson, best) : null;
  const wanted = named === null ? fitting : runIdOf(lesson, named);
  const sure = lesson.recordings.some((recording) => recording.name === named);
  // A kept run stays on the stage from step to step, as a live one does.
  const free = named !== null || run === null || (run.source === 'recorded' && !isKept(run.run_id));
  const shown = run?.run_id ?? null;
  const gone = wanted !== null && (lost.has(wanted) || (named !== null && lost.has(named)));
  const misses =
    wanted !== null && free && pending?.source !== 'live' && shown !== wanted ? wanted : null;
  const asks = gone ? null : misses;
  // The page's first open has asked for this already.
  const asked = useRef(named === first.run && place.step === first.step ? wanted : null);
  const [late, setLate] = useState<string | null>(null);
  useEffect(() => {
    if (asks === null) {
      asked.current = null;
      return;
    }
    if (asked.current !== asks && asks !== moved) open(lesson.slug, asks);
    asked.current = asks;
    // A link's recording is there, however busy the server is: its moment is of no other run.
    if (sure) return;
    const timer = setTimeout(() => setLate(asks), patienceMs);
    return () => clearTimeout(timer);
  }, [open, lesson.slug, sure, asks, moved]);
  useEffect(() => {
    if (moved === null) return;
    go({ run: moved, moment: null, window: null, nth: null }, 'replace');
    setTaken(moved);
  }, [moved, go]);
  const leaves = named !== null && misses !== null && (gone || late === misses);
  useEffect(() => {
    if (!leaves || named === null) return;
    // The server has said why. A moment of a run that is gone means nothing in another one.
    go({ run: null, moment: null, window: null, nth: null }, 'replace');
    // Another time it may be there; what would be shown in its place is not asked for again.
    for (const id of [named, runIdOf(lesson, named)]) if (id !== fitting) forgive(id);
  }, [leaves, named, lesson, fitting, go, forgive]);
  return asks !== null && late !== asks;
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
