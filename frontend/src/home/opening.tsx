// SPDX-License-Identifier: GPL-2.0-or-later
/** The top of the front page: two recorded lanes that move, and three ways in. */

import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { frontPage, writePlace } from '../navigation/place.ts';
import { usePlayback, useSentence } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { useTheme } from '../ui/theme.ts';
import { day } from '../ui/words.ts';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { viewOf } from '../views/registry.ts';
import { Exhibit, type Shown } from './exhibit.tsx';

/** What is known of a lesson before it is opened. */
export type Candidate = Partial<Pick<Lesson, 'scenes' | 'hero' | 'recordings' | 'question'>>;

/** A lesson whose best scene compares two kernels and gives no answer away; the first such one. */
export function openingLesson(
  lessons: readonly (readonly [string, Candidate | null])[],
): string | null {
  const found = lessons.find(([, lesson]) => {
    const scene = heroOf(lesson);
    return scene?.arms.length === 2 && !scene.predict && (lesson?.recordings?.length ?? 0) > 0;
  });
  return found?.[0] ?? null;
}

function heroOf(lesson: Candidate | null) {
  return lesson?.scenes?.find(({ id }) => id === lesson.hero);
}

export function OpeningPicture({ slug }: { readonly slug: string }) {
  return (
    <section className="opening" aria-label={t('Two kernels at work')} data-testid="opening">
      <Exhibit
        slug={slug}
        pick={(lesson) => heroOf(lesson) ?? lesson.scenes[0]!}
        frame={(_, __, picture) => <div className="opening-frame">{picture}</div>}
      >
        {(shown) => <Moving {...shown} slug={slug} />}
      </Exhibit>
    </section>
  );
}

/** Repeats its window until it is paused; with reduced motion it waits for a press. */
function Moving({ lesson, scene, index, recordedAt, slug }: Shown & { readonly slug: string }) {
  const theme = useTheme();
  const { state, frame, goto, pause } = usePlayback('page');
  const [moving, setMoving] = useState(!state.reduced);
  const sentence = useSentence(scene.sentence);
  useEffect(() => {
    if (moving) goto(scene);
    else pause();
  }, [moving, scene, goto, pause]);
  return (
    <>
      <div className="opening-picture" inert>
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
      </div>
      <p className="opening-line">
        <button type="button" data-testid="opening-play" onClick={() => setMoving(!moving)}>
          {moving ? t('Pause') : t('Play')}
        </button>
        <span>
          <a href={writePlace({ ...frontPage, lesson: slug }, location.search) || '?'}>
            {lesson.question}
          </a>{' '}
          <span className="quiet small">
            {recordedAt !== null && `${t('recorded {at}', { at: day(recordedAt) })}, `}
            {state.speedWords}
          </span>
        </span>
      </p>
      <p className="quiet small opening-sentence">{sentence}</p>
    </>
  );
}

const tryCommand = "./duet try my.patch --run 'stress-ng --pipe 2'";

/** For a reader, a teacher, and somebody with a patch. */
export function Doors({ first, count }: { readonly first: string; readonly count: number }) {
  const place = { ...frontPage, lesson: first };
  const address = writePlace(place, location.search) || '?';
  return (
    <ul className="doors" data-testid="doors">
      <Door
        title={<a href={address}>{t('Learn')}</a>}
        words={t(
          '{count, plural, one {# lesson} other {# lessons}}, 40 to 50 minutes each: predict, watch, explain. Start with the first.',
          { count },
        )}
      />
      <Door
        title={<a href={`${address}&present=1`}>{t('Teach')}</a>}
        words={t(
          'Each lesson is also a deck with speaker notes, a class on its own screens, and a lab.',
        )}
      />
      <Door
        title={<b>{t('Try your patch')}</b>}
        words={<code className="door-command">{tryCommand}</code>}
      />
    </ul>
  );
}

function Door({ title, words }: { readonly title: ReactNode; readonly words: ReactNode }) {
  return (
    <li>
      <h2>{title}</h2>
      <p>{words}</p>
    </li>
  );
}
