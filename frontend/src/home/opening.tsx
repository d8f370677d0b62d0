// SPDX-License-Identifier: GPL-2.0-or-later
/** The top of the front page: two recorded lanes that play, and three links. */

import { type ReactNode, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { lessonAddress } from '../navigation/place.ts';
import { usePlayback, useSentence } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { day } from '../ui/words.ts';
import { Exhibit, ExhibitLanes, type Shown } from './exhibit.tsx';

/** The parts of a lesson that the page knows before the lesson is opened. */
export type Candidate = Partial<Pick<Lesson, 'scenes' | 'hero' | 'recordings'>>;

/** The first lesson that has a recording, and whose hero scene compares two kernels without asking for a prediction. */
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
      <Exhibit slug={slug} pick={(lesson) => heroOf(lesson) ?? lesson.scenes[0]!}>
        {(shown) => <Moving {...shown} />}
      </Exhibit>
    </section>
  );
}

/**
 * Repeats the scene's window until the viewer pauses it. With reduced motion, playback starts only after the viewer
 * presses the button.
 */
function Moving(shown: Shown) {
  const { lesson, scene, recordedAt } = shown;
  const { state } = usePlayback();
  const [moving, setMoving] = useState(!state.reduced);
  const sentence = useSentence(scene.sentence);
  return (
    <>
      <div className="opening-picture" inert>
        <ExhibitLanes {...shown} moving={moving} />
      </div>
      <p className="opening-line">
        <button
          type="button"
          className="button"
          data-testid="opening-play"
          onClick={() => setMoving(!moving)}
        >
          {moving ? t('Pause') : t('Play')}
        </button>
        <span>
          <a href={lessonAddress(lesson.slug)}>{lesson.question}</a>{' '}
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

/** Links for learners, for instructors, and for people who want to try their own patch. */
export function Doors({ first, count }: { readonly first: string; readonly count: number }) {
  return (
    <ul className="doors" data-testid="doors">
      <Door
        title={<a href={lessonAddress(first)}>{t('Learn')}</a>}
        words={t(
          '{count, plural, one {# lesson} other {# lessons}}, 40 to 50 minutes each: predict, watch, explain. Start with the first.',
          { count },
        )}
      />
      <Door
        title={<a href={lessonAddress(first, 'slides')}>{t('Teach')}</a>}
        words={t(
          'Each lesson is also available as a slide deck with speaker notes, as a class in which students follow on their own screens, and as a lab.',
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
