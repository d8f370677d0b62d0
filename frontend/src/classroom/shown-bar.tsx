// SPDX-License-Identifier: GPL-2.0-or-later
/** The line over two runs beside each other, in a class: whose run it is, and the way back. */

import { t } from '../base/lang/t.ts';
import type { Place } from '../navigation/place.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useConnection } from '../store/hooks.tsx';
import { barWords } from './class-bar.tsx';
import { type RoomNow, useRoom } from './hooks.tsx';
import { changedWords, makersWords } from './tries.ts';
import { useBack } from './use-shown.ts';

interface Props {
  readonly lesson: Lesson;
  readonly place: Place;
}

/** "Second: Ada, 9 hogs."; empty: the run is none of the class, or not for this page to know. */
export function shownWords(room: RoomNow['room'], lesson: Lesson, beside: string | null): string {
  const one = room?.tries.find(({ run }) => run === beside);
  return one === undefined
    ? ''
    : t(' Second: {makers}, {changed}.', {
        makers: makersWords(one),
        changed: changedWords(one, lesson),
      });
}

export function ShownBar({ lesson, place }: Props) {
  const now = useRoom();
  const back = useBack(place);
  const connected = useConnection().state === 'open';
  const { classroom, room, open, driving, following } = now;
  if (classroom === null || room === null || !open) return null;
  const words = connected ? barWords(room, now, lesson) : t('No connection to the class.');
  return (
    <section
      className="class-bar"
      aria-label={t('Class')}
      data-state={driving ? 'drives' : following ? 'follows' : 'explores'}
      data-testid="class-bar"
    >
      <span role="status" data-testid="class-words">
        {words}
        {shownWords(room, lesson, place.beside)}
      </span>
      {!following && !driving && (
        <button
          type="button"
          className="button"
          data-strong=""
          onClick={() => classroom.followAgain()}
          data-testid="class-follow"
        >
          {t('follow again')}
        </button>
      )}
      <span className="spring" />
      {driving && (
        <button type="button" className="button" onClick={back} data-testid="class-back">
          {t('back to the lesson')}
        </button>
      )}
    </section>
  );
}
