// SPDX-License-Identifier: GPL-2.0-or-later
/** Opens a lesson, shows progress, and chooses the page that the address requests. */

import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { later } from '../base/later.tsx';
import { siteOf } from '../base/site.ts';
import { completeSlug, resolveName } from '../base/typed.ts';
import { workloadOf } from '../derive/recording.ts';
import { lessonOfRun } from '../derive/run-index.ts';
import { armsOf, sceneOf, stepName, type Wanted } from '../navigation/navigation.ts';
import { frontPage, type Place, writePlace } from '../navigation/place.ts';
import type { Go } from '../navigation/use-navigation.ts';
import { Notices } from '../panels/notices.tsx';
import { TermsProvider } from '../panels/terms/terms.tsx';
import { PlaybackProvider, useRunIndex } from '../playback/hooks.tsx';
import { AroundLesson } from '../plugins.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import {
  useCommands,
  useConnection,
  useErrors,
  useHello,
  useLesson,
  useNumbers,
  useRun,
} from '../store/hooks.tsx';
import { markdownLoaded } from '../ui/markdown.tsx';
import { Mark } from '../ui/parts.tsx';
import { loadOwnView, useView } from '../views/registry.ts';
import { EmbedPage } from './embed.tsx';
import { LessonPage } from './lesson-page.tsx';
import { type LessonModel, type LessonProps, useLessonPage } from './use-lesson-page.ts';

const NumbersPage = later(() => import('../numbers/numbers.tsx').then((m) => m.NumbersPage));
// Slides are laid out by the size of their text.
const DeckPage = later(async () => {
  await markdownLoaded();
  return (await import('./deck/deck-page.tsx')).DeckPage;
});
const HandoutPage = later(async () => {
  await markdownLoaded();
  return (await import('./deck/handout-page.tsx')).HandoutPage;
});
const NotesPage = later(() => import('./deck/notes-page.tsx').then((m) => m.NotesPage));

interface Props {
  readonly slug: string;
  readonly place: Place;
  readonly go: Go;
  /** A counter that increases when Back, Forward or a link opens another address (see usePlace). */
  readonly visit?: number;
}

/** Looks up the lesson for a typed name; a complete slug is opened without a lookup. */
export function TypedLesson({
  typed,
  go,
  children,
}: {
  readonly typed: string;
  readonly go: Go;
  readonly children: (slug: string) => ReactNode;
}) {
  const site = siteOf();
  const hello = useHello();
  const known = site ? [site.lesson] : hello?.lessons.map((lesson) => lesson.slug);
  const slug = known === undefined ? typed : (resolveName(typed, known) ?? typed);
  useEffect(() => {
    if (slug !== typed) go({ lesson: slug }, 'replace');
  }, [slug, typed, go]);
  if (slug !== typed || (known === undefined && !completeSlug.test(typed)))
    return <Waiting slug={typed} onFront={() => go({ lesson: null })} />;
  return children(slug);
}

export function LessonLoader({ slug, place: asked, go, visit = 0 }: Props) {
  const lesson = useLesson();
  const numbers = useNumbers();
  const ran = useRun()?.arms;
  const { open } = useCommands();
  // The run and step are sent with the first request, so that no other recording is loaded first.
  const [first] = useState<Wanted>({ run: asked.run, step: asked.step });
  useEffect(() => open(slug, first.run, first.step), [open, slug, first]);
  // The view is loaded together with the lesson. `useView` reports a failure, or another view that the lesson names.
  useEffect(() => void loadOwnView(slug).catch(() => undefined), [slug]);
  const view = useView(lesson?.slug === slug ? lesson : null);
  const nameOf = (step: string | null) => (lesson?.slug === slug ? stepName(lesson, step) : step);
  const place = { ...asked, step: nameOf(asked.step) };
  useEffect(() => {
    if (place.step !== asked.step) go({ step: place.step }, 'replace');
  }, [place.step, asked.step, go]);
  if (numbers?.slug === slug)
    return <NumbersPage lesson={numbers} onFront={() => go({ lesson: null })} />;
  if (lesson?.slug !== slug || view === undefined)
    return <Waiting slug={slug} onFront={() => go({ lesson: null })} />;
  if (view === null) return <NoView lesson={lesson} onFront={() => go({ lesson: null })} />;
  if (place.present === 'notes')
    return (
      <TermsProvider lesson={lesson}>
        <NotesPage {...{ lesson, place, go }} />
      </TermsProvider>
    );
  const scene = sceneOf(lesson, place.step);
  return (
    <WithPlayback
      {...{ lesson, scene, place, go, visit }}
      first={{ ...first, step: nameOf(first.step) }}
      arms={armsOf(lesson, scene, place, ran)}
    />
  );
}

/** An error message for a lesson whose view this page lacks, because the server or the page is out of date. */
function NoView({ lesson, onFront }: { readonly lesson: Lesson; readonly onFront: () => void }) {
  return (
    <main className="front" data-testid="no-view">
      <p className="lead" role="alert">
        {t(
          'The lesson “{title}” needs the view {view}, which this page does not have. Reload the page; if that does not help, build it again with “make run”.',
          { title: lesson.title, view: lesson.view },
        )}
      </p>
      <button type="button" className="button" onClick={onFront}>
        {t('all lessons')}
      </button>
    </main>
  );
}

function WithPlayback({ arms, ...props }: LessonProps) {
  return (
    <PlaybackProvider arms={arms}>
      <Shell {...props} arms={arms} />
    </PlaybackProvider>
  );
}

function Shell(props: LessonProps) {
  const workload = useRunIndex()?.workload ?? workloadOf(props.lesson, props.scene);
  const page = useLessonPage({ ...props, lesson: lessonOfRun(props.lesson, workload) });
  const { embed, present } = page.place;
  // Printed pages have no pop-up cards for terms.
  if (!embed && present === 'handout') return <HandoutPage page={page} />;
  return (
    <TermsProvider lesson={page.lesson}>
      {embed ? (
        <EmbedPage page={page} />
      ) : (
        <Changing page={page}>
          {present !== null ? <DeckPage page={page} /> : <LessonPage page={page} />}
        </Changing>
      )}
    </TermsProvider>
  );
}

/** Keeps a viewer's changed patch while they switch between the lesson page and the slides. */
function Changing({
  page,
  children,
}: {
  readonly page: LessonModel;
  readonly children: ReactNode;
}) {
  const { lesson, scene, actions, place, server } = page;
  const { knobs, clock, workload } = place;
  const here = { ...frontPage, lesson: lesson.slug, step: scene.id, knobs, clock, workload };
  return (
    <AroundLesson
      {...{ lesson, scene }}
      blocked={actions.blocked}
      shut={
        server.connection.state === 'open' ? '' : t('There is no connection to the server now.')
      }
      onBegin={actions.beginWith}
      address={() => `${location.origin}${location.pathname}${writePlace(here, location.search)}`}
    >
      {children}
    </AroundLesson>
  );
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
          ? t('The lesson “{slug}” could not be opened.', { slug })
          : connection.state === 'open'
            ? t('Loading the lesson…')
            : t('Looking for the server…')}
      </p>
      <Notices empty />
      {list.length > 0 && (
        <div className="row-of-buttons">
          <button type="button" className="button" onClick={onFront}>
            {t('all lessons')}
          </button>
        </div>
      )}
    </main>
  );
}
