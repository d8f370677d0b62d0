// SPDX-License-Identifier: GPL-2.0-or-later
/** The runs of a class: who, what was changed, how it stands, and its one number. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { off } from '../ui/parts.tsx';
import type { ClassTry, Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { useVisit } from './hooks.tsx';
import {
  alonePlace,
  changedWords,
  makersWords,
  type Order,
  ordered,
  ratioWords,
  shownPlace,
  standsWords,
} from './tries.ts';
import type { ShownFrom } from './use-shown.ts';

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly lesson: Lesson;
  readonly show: ShownFrom;
}

const orders: Readonly<Record<Order, string>> = {
  time: t('newest first'),
  highest: t('highest number first'),
  lowest: t('lowest number first'),
};

export function Gallery(props: Props) {
  const { room, lesson } = props;
  const [order, setOrder] = useState<Order>('time');
  const here = room.tries.filter((one) => one.lesson === lesson.slug);
  const others = room.tries.length - here.length;
  const result = here.find((one) => one.result !== null)?.result;
  if (room.tries.length === 0) return <p className="small quiet">{t('Nothing was tried yet.')}</p>;
  return (
    <>
      {here.length > 1 && (
        <label className="small">
          {t('in this order:')}{' '}
          <select
            value={order}
            onChange={(event) => setOrder(event.target.value as Order)}
            data-testid="class-order"
          >
            {Object.entries(orders).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      )}
      <ol className="class-tries" data-testid="class-tries">
        {ordered(here, order).map((one) => (
          <Entry key={one.number} one={one} {...props} />
        ))}
      </ol>
      {others > 0 && (
        <p className="small quiet">
          {t('{others, plural, one {# run} other {# runs}} in other lessons.', { others })}
        </p>
      )}
      {result && (
        <p className="small quiet">
          {result.ratio === null
            ? t(
                'The number is {title}; of one traced run each, so it explains, and proves nothing.',
                { title: result.title },
              )
            : t(
                'The number is {title}, the second lane over the first; of one traced run each, so it explains, and proves nothing.',
                { title: result.title },
              )}
        </p>
      )}
    </>
  );
}

function Entry({ one, classroom, room, lesson, show }: Props & { readonly one: ClassTry }) {
  const visit = useVisit();
  const mine = one.makers.some((maker) => maker.member === room.member);
  const teaches = room.part === 'instructor';
  const there = one.state === 'done' || one.state === 'running';
  const look = () => {
    classroom.detach();
    visit(alonePlace(lesson, one));
  };
  return (
    <li data-state={one.state} data-testid={`class-try-${one.number}`}>
      <p className="class-try-what">
        <b>{makersWords(one)}</b>: {changedWords(one, lesson)}
      </p>
      <p className="number" data-testid={`class-ratio-${one.number}`}>
        {ratioWords(one)}
      </p>
      <p className="small quiet class-try-stands">{standsWords(one)}</p>
      <p className="class-try-acts small">
        {there && (
          <button type="button" className="link" onClick={look} data-testid="class-look">
            {t('look at it')}
          </button>
        )}
        {mine && one.state === 'waiting' && (
          <button
            type="button"
            className="link"
            onClick={() => classroom.takeBack(one.number)}
            data-testid="class-take-back-try"
          >
            {t('take back')}
          </button>
        )}
        {teaches && (
          <button
            type="button"
            className="button"
            onClick={() => show(shownPlace(lesson, one))}
            data-testid={`class-show-${one.number}`}
            {...off(one.state !== 'done' && t('There is nothing to show before it has ended.'))}
          >
            {t('show to all')}
          </button>
        )}
      </p>
    </li>
  );
}
