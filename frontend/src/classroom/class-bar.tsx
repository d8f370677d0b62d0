// SPDX-License-Identifier: GPL-2.0-or-later
/** One line over the lesson: who drives, whether this page follows, and what may be done. */

import { useEffect, useState } from 'react';
import { plural } from '../base/units.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { reportHref } from '../report/address.ts';
import { useConnection } from '../store/hooks.tsx';
import { off } from '../ui/off.ts';
import { waitingRaised } from './board-state.ts';
import type { Room } from './class-state.ts';
import type { RoomNow } from './hooks.tsx';
import { stepTitle } from './roster.tsx';
import { watchingWords } from './shoulder.tsx';
import type { InClass } from './use-in-class.ts';

interface Props {
  readonly now: RoomNow;
  readonly room: Room;
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly inClass: InClass;
  readonly panel: boolean;
  /** So many questions wait for this member. */
  readonly waiting: number;
  readonly onPanel: () => void;
  readonly onInvite: () => void;
}

/** How many questions of members wait. */
function asksWords(room: Room): string {
  const n = waitingRaised(room);
  return n > 0 ? `, ${n} asked` : '';
}

/** What the bar says. */
export function barWords(
  room: Room,
  { following, driving }: Pick<RoomNow, 'following' | 'driving'>,
  lesson: Pick<Lesson, 'slug' | 'scenes' | 'operation'>,
): string {
  const { facts, place } = room;
  if (facts?.open === false) return 'The class has ended.';
  const { watching } = room.board;
  if (watching?.phase === 'watched') return watchingWords(watching);
  if (driving)
    return room.part === 'instructor'
      ? 'You drive: the class sees what you show.'
      : 'You have the wheel: the class sees what you show.';
  const driver = facts?.driver || (room.part === 'instructor' ? 'you' : 'the instructor');
  if (following) return `You follow ${driver}.`;
  const at = place === null ? '' : atWords(place, lesson);
  return `You explore on your own${at}. Press G to follow again.`;
}

function atWords(
  place: NonNullable<Room['place']>,
  lesson: Pick<Lesson, 'slug' | 'scenes'>,
): string {
  return place.lesson === lesson.slug
    ? `; the class is at “${stepTitle(lesson, place.step)}”`
    : '; the class is in another lesson';
}

export function ClassBar(props: Props) {
  const { now, room, lesson } = props;
  const { classroom, open, driving, following } = now;
  const connected = useConnection().state === 'open';
  const { facts } = room;
  return (
    <section
      className="class-bar"
      aria-label="Class"
      data-state={!open ? 'ended' : driving ? 'drives' : following ? 'follows' : 'explores'}
      data-testid="class-bar"
    >
      <span role="status" data-testid="class-words">
        {connected || !open
          ? barWords(room, now, lesson)
          : 'No connection to the class; the page goes back to it by itself.'}
      </span>
      {open && !following && !driving && (
        <button
          type="button"
          className="button"
          data-strong=""
          onClick={() => classroom?.followAgain()}
          data-testid="class-follow"
        >
          follow again (g)
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
            ? `class: ${facts?.connected ?? 0} here${asksWords(room)}`
            : props.waiting > 0
              ? plural(props.waiting, 'question')
              : 'class'}
        </button>
      )}
      {!open && room.part === 'instructor' && (
        <a
          href={reportHref(room.classId)}
          target="_blank"
          rel="noreferrer"
          data-testid="class-report-after"
        >
          the report
        </a>
      )}
      {!open && (
        <button type="button" className="link" onClick={() => classroom?.dismiss()}>
          dismiss
        </button>
      )}
    </section>
  );
}

function SpotButtons({ inClass, lesson, arms }: Props) {
  const { spot, picking, setPicking, light } = inClass;
  if (spot !== null)
    return (
      <button
        type="button"
        className="button"
        onClick={() => light(null)}
        data-testid="class-spot-off"
      >
        spotlight off
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
        spotlight
      </button>
    );
  return (
    <span className="class-spots">
      <span className="small quiet">Click a mark in the picture, or take a lane:</span>
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
        cancel
      </button>
    </span>
  );
}

/** One press counts once in so long. */
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
      title="Tells the instructor, without your name"
      data-testid="class-lost"
      {...off(said && 'The instructor has been informed, without your name.')}
    >
      {said ? 'counted' : 'I am lost'}
    </button>
  );
}
