// SPDX-License-Identifier: GPL-2.0-or-later
/** The members of a class, for its instructor: where each one is, who leads, and how many are lost. */

import { useState } from 'react';
import { t } from '../../base/lang/t.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { HeadRow, off } from '../../ui/parts.tsx';
import type { ConfusionPoint, Room, RosterMember } from './class-state.ts';
import type { Classroom } from './classroom.ts';

// The instructor's actions on a member of the roster, except handing over control.

interface MemberToolsProps {
  readonly classroom: Classroom;
  readonly member: RosterMember;
}

function MemberTools({ classroom, member: { member, name, connected } }: MemberToolsProps) {
  const [sure, setSure] = useState(false);
  if (sure)
    return (
      <span className="class-tools">
        <button
          type="button"
          className="link"
          onClick={() => classroom.remove(member)}
          data-testid="class-remove-sure"
        >
          {t('delete {name} and all answers', { name })}
        </button>
        <button type="button" className="link" onClick={() => setSure(false)}>
          {t('cancel')}
        </button>
      </span>
    );
  return (
    <span className="class-tools">
      <button
        type="button"
        className="link"
        aria-label={t('observe the page of {name}', { name })}
        onClick={() => classroom.watch(member)}
        {...off(!connected && t('{name} is away.', { name }))}
      >
        {t('observe')}
      </button>
      <button
        type="button"
        className="link"
        aria-label={t('delete the data of {name}', { name })}
        onClick={() => setSure(true)}
      >
        {t('delete')}
      </button>
    </span>
  );
}

/** Time without activity after which a member counts as idle, s. */
const idleS = 120;

interface RosterProps {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly lesson: Lesson;
}

/** A member's state, in about two words. */
export function doing({ connected, following, idle_s, driving }: RosterMember): string {
  if (!connected) return t('away');
  if (driving) return t('leads');
  if (idle_s < idleS) return following ? t('follows') : t('explores');
  const min = Math.floor(idle_s / 60);
  return following ? t('follows, idle {min} min', { min }) : t('explores, idle {min} min', { min });
}

/** The title of a step, or its id if it belongs to another lesson. */
export function stepTitle(lesson: Pick<Lesson, 'scenes'>, id: string): string {
  return lesson.scenes.find((scene) => scene.id === id)?.title ?? id;
}

export function Roster({ classroom, room, lesson }: RosterProps) {
  const { roster, facts } = room;
  if (roster.length === 0)
    return <p className="quiet small">{t('Nobody has joined yet. Show the link or the code.')}</p>;
  return (
    <>
      {facts?.driver_member && (
        <p className="class-buttons">
          <button
            type="button"
            className="button"
            onClick={() => classroom.hand('')}
            data-testid="class-take-back"
          >
            {t('take control back from {driver}', { driver: facts.driver })}
          </button>
        </p>
      )}
      <table className="table small" data-testid="class-roster">
        <HeadRow heads={[t('name'), t('does'), t('step'), t('control'), '']} />
        <tbody>
          {roster.map((member) => (
            <tr key={member.member} data-away={member.connected ? undefined : ''}>
              <td>{member.name}</td>
              <td>{doing(member)}</td>
              <td>{stepTitle(lesson, member.step)}</td>
              <td>
                <button
                  type="button"
                  className="link"
                  aria-label={t('hand over to {name}', { name: member.name })}
                  onClick={() => classroom.hand(member.member)}
                  {...off(
                    member.driving
                      ? t('{name} leads.', { name: member.name })
                      : !member.connected && t('{name} is away.', { name: member.name }),
                  )}
                >
                  {t('hand over')}
                </button>
              </td>
              <td>
                <MemberTools {...{ classroom, member }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Number of ten-second buckets shown. */
const shownBuckets = 60;
const bucketS = 10;

/** Number of members in each bucket who said they were lost, for the last ten minutes, oldest first. */
export function bucketsOf(points: readonly ConfusionPoint[]): readonly number[] {
  const last = points.reduce((most, { at_s }) => Math.max(most, at_s), 0);
  const counts = new Map(points.map(({ at_s, count }) => [at_s, count]));
  return Array.from(
    { length: shownBuckets },
    (_, i) => counts.get(last - (shownBuckets - 1 - i) * bucketS) ?? 0,
  );
}

const [barWidth, chartHeight] = [5, 40];

export function ConfusionCurve({ points }: { readonly points: readonly ConfusionPoint[] }) {
  const all = points.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return <p className="small quiet">{t('Nobody says that they are lost.')}</p>;
  const counts = bucketsOf(points);
  const most = Math.max(...counts, 1);
  const words = t(
    'Members said {all, plural, one {# time} other {# times}} that they were lost, at most {most} within ten seconds.',
    { all, most },
  );
  return (
    <figure className="class-confusion">
      <svg
        viewBox={`0 0 ${shownBuckets * barWidth} ${chartHeight}`}
        role="img"
        aria-label={words}
        preserveAspectRatio="none"
        data-testid="class-confusion"
      >
        {counts.map((count, i) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bucket is its place
            key={i}
            x={i * barWidth}
            y={chartHeight * (1 - count / most)}
            width={barWidth - 1}
            height={chartHeight * (count / most)}
          />
        ))}
      </svg>
      <figcaption className="small quiet">
        {t('{words} The chart shows ten minutes in steps of ten seconds.', { words })}
      </figcaption>
    </figure>
  );
}
