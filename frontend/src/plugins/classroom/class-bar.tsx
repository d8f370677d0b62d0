// SPDX-License-Identifier: GPL-2.0-or-later
/** The class's bar above a lesson: who leads, whether this page follows, and the available actions. */

import { useEffect, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import type { Place } from '../../navigation/place.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { useConnection } from '../../store/hooks.tsx';
import { off } from '../../ui/parts.tsx';
import { type Room, waitingRaised } from './class-state.ts';
import type { InClass } from './driver.ts';
import { type RoomNow, useRoom } from './hooks.tsx';
import { watchingWords } from './observe.tsx';
import { reportHref } from './report/address.ts';
import { stepTitle } from './roster.tsx';
import { changedWords, makersWords, useBack } from './tries.ts';

interface ClassBarProps {
  readonly now: RoomNow;
  readonly room: Room;
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly inClass: InClass;
  readonly panel: boolean;
  /** Number of questions that wait for this member's answer. */
  readonly waiting: number;
  readonly onPanel: () => void;
  readonly onInvite: () => void;
}

/** The number of members who are present, and the number of members' questions that wait for the instructor. */
function hereWords(room: Room): string {
  const [here, n] = [room.facts?.connected ?? 0, waitingRaised(room)];
  return n > 0
    ? t('class: {here} here, {n} asked', { here, n })
    : t('class: {here} here', { here });
}

/** The sentence that the bar shows. */
export function barWords(
  room: Room,
  { following, driving }: Pick<RoomNow, 'following' | 'driving'>,
  lesson: Pick<Lesson, 'slug' | 'scenes' | 'operation'>,
): string {
  const { facts, place } = room;
  if (facts?.open === false) return t('The class has ended.');
  const { watching } = room.board;
  if (watching?.phase === 'watched') return watchingWords(watching);
  if (driving)
    return room.part === 'instructor'
      ? t('You lead: the class sees what you show.')
      : t('You have control: the class sees what you show.');
  if (following) return followingWords(room);
  if (place === null) return t('You explore on your own. Press G to follow again.');
  if (place.lesson !== lesson.slug)
    return t('You explore on your own; the class is in another lesson. Press G to follow again.');
  const step = stepTitle(lesson, place.step);
  return t('You explore on your own; the class is at “{step}”. Press G to follow again.', { step });
}

function followingWords({ facts, part }: Room): string {
  if (facts?.driver) return t('You follow {driver}.', { driver: facts.driver });
  return part === 'instructor'
    ? t('This page follows your other page.')
    : t('You follow the instructor.');
}

export function ClassBar(props: ClassBarProps) {
  const { now, room, lesson } = props;
  const { classroom, open, driving, following } = now;
  const connected = useConnection().state === 'open';
  const { facts } = room;
  return (
    <section
      className="class-bar"
      aria-label={t('Class')}
      data-state={!open ? 'ended' : driving ? 'drives' : following ? 'follows' : 'explores'}
      data-testid="class-bar"
    >
      <span role="status" data-testid="class-words">
        {connected || !open
          ? barWords(room, now, lesson)
          : t('No connection to the class; the page reconnects automatically.')}
      </span>
      {open && !following && !driving && (
        <button
          type="button"
          className="button"
          data-strong=""
          onClick={() => classroom?.followAgain()}
          data-testid="class-follow"
        >
          {t('follow again (g)')}
        </button>
      )}
      <span className="spring" />
      {open && driving && <SpotButtons {...props} />}
      {open && room.part === 'member' && !driving && <LostButton now={now} />}
      {open && room.part === 'instructor' && (
        <button
          type="button"
          className="link number"
          onClick={props.onInvite}
          data-testid="class-invite-button"
        >
          {facts?.code}
        </button>
      )}
      {open && (
        <button
          type="button"
          className="button"
          aria-expanded={props.panel}
          onClick={props.onPanel}
          data-testid="class-panel-button"
        >
          {room.part === 'instructor'
            ? hereWords(room)
            : props.waiting > 0
              ? t('{waiting, plural, one {# question} other {# questions}}', {
                  waiting: props.waiting,
                })
              : t('class')}
        </button>
      )}
      {!open && room.part === 'instructor' && (
        <a
          href={reportHref(room.classId)}
          target="_blank"
          rel="noreferrer"
          data-testid="class-report-after"
        >
          {t('the report')}
        </a>
      )}
      {!open && (
        <button type="button" className="link" onClick={() => classroom?.dismiss()}>
          {t('dismiss')}
        </button>
      )}
    </section>
  );
}

function SpotButtons({ inClass, lesson, arms }: ClassBarProps) {
  const { spot, picking, setPicking, light } = inClass;
  if (spot !== null)
    return (
      <button
        type="button"
        className="button"
        onClick={() => light(null)}
        data-testid="class-spot-off"
      >
        {t('spotlight off')}
      </button>
    );
  if (!picking)
    return (
      <button
        type="button"
        className="button"
        onClick={() => setPicking(true)}
        data-testid="class-spot"
      >
        {t('spotlight')}
      </button>
    );
  return (
    <span className="class-spots">
      <span className="small quiet">{t('Click a mark in the picture, or choose a lane:')}</span>
      {arms.map((arm) => (
        <button
          key={arm}
          type="button"
          className="button"
          onClick={() => light(arm)}
          data-testid={`class-spot-${arm}`}
        >
          {lesson.arms.find((one) => one.name === arm)?.title ?? arm}
        </button>
      ))}
      <button type="button" className="link" onClick={() => setPicking(false)}>
        {t('cancel')}
      </button>
    </span>
  );
}

/** Several presses by a member within this time count as one press, ms. */
const lostMs = 10_000;

function LostButton({ now: { classroom } }: { readonly now: RoomNow }) {
  const [said, setSaid] = useState(false);
  useEffect(() => {
    if (!said) return undefined;
    const timer = setTimeout(() => setSaid(false), lostMs);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <button
      type="button"
      className="button"
      onClick={() => {
        classroom?.confused();
        setSaid(true);
      }}
      title={t('Tells the instructor, without your name, that you are lost')}
      data-testid="class-lost"
      {...off(said && t('The instructor has been informed, without your name.'))}
    >
      {said ? t('counted') : t('I am lost')}
    </button>
  );
}

// The class's bar above two runs side by side: who made the second run, and a button back to the lesson.

interface ShownBarProps {
  readonly lesson: Lesson;
  readonly place: Place;
}

/** A sentence such as "Second run: Ada, 9 hogs."; empty if the class has no run with this id. */
export function shownWords(room: RoomNow['room'], lesson: Lesson, beside: string | null): string {
  const one = room?.tries.find(({ run }) => run === beside);
  return one === undefined
    ? ''
    : t(' Second run: {makers}, {changed}.', {
        makers: makersWords(one),
        changed: changedWords(one, lesson),
      });
}

export function ShownBar({ lesson, place }: ShownBarProps) {
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
