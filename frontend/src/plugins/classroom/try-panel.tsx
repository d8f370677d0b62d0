// SPDX-License-Identifier: GPL-2.0-or-later
/** The panel for trying runs in a class: the instructor opens steps, and members change the knobs there. */

import { useState } from 'react';
import { t, worded } from '../../base/lang/t.ts';
import { Knob } from '../../controls/run-controls.tsx';
import { fixedBecause, type Knobs, sceneKnobs } from '../../navigation/knobs.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import { isOwn } from '../../store/changes.ts';
import { useDenied } from '../../store/hooks.tsx';
import { off } from '../../ui/parts.tsx';
import { sentenceCase } from '../../ui/words.ts';
import type { ClassTry, Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { useVisit } from './hooks.tsx';
import { stepTitle } from './roster.tsx';
import {
  alonePlace,
  changedWords,
  makersWords,
  type Order,
  openedAt,
  ordered,
  ratioWords,
  type ShownFrom,
  shownPlace,
  standsWords,
} from './tries.ts';

/** What a lesson page provides for members who try their own runs. */
export interface TryActions {
  readonly knobs: Knobs;
  readonly blocked: string;
  readonly turnOne: (name: string, value: number) => void;
  readonly attempt: (() => void) | null;
}

interface OpenStepsProps {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly lesson: Lesson;
  readonly scene: Scene;
}

export function OpenSteps({ classroom, room, lesson, scene }: OpenStepsProps) {
  const opened = openedAt(room, lesson.slug, scene.id);
  const { no_runs = '', no_patches = '' } = room.opened ?? {};
  const set = (knobs: boolean, patches: boolean) =>
    classroom.openStep({ lesson: lesson.slug, step: scene.id, knobs, patches });
  return (
    <div className="class-opens">
      <label>
        <input
          type="checkbox"
          checked={opened !== null}
          onChange={(event) => set(event.target.checked, false)}
          data-testid="class-open-knobs"
          {...off(worded(sentenceCase(no_runs)))}
        />
        {t('turn knobs in the step “{title}”', { title: scene.title })}
      </label>
      <label>
        <input
          type="checkbox"
          checked={opened?.patches ?? false}
          onChange={(event) => set(true, event.target.checked)}
          data-testid="class-open-patches"
          {...off(opened === null ? t('Let the class change knobs first.') : no_patches)}
        />
        {t('and change the patches of that step')}
      </label>
      <label>
        <input
          type="checkbox"
          checked={room.opened?.gallery ?? false}
          onChange={(event) => classroom.showGallery(event.target.checked)}
          data-testid="class-show-gallery"
        />
        {t('everybody sees the runs of the class, with names')}
      </label>
      {(no_runs || no_patches) && (
        <p className="small quiet">{worded(sentenceCase(no_runs || no_patches))}</p>
      )}
    </div>
  );
}

/** Knobs that a member may change: all except the duration, the number of CPUs, and the knobs of a model. */
function turnable(lesson: Lesson) {
  return Object.entries(lesson.params).filter(
    ([, param]) => param.applies !== 'model' && param.role !== 'duration' && param.role !== 'cpus',
  );
}

export function TryIt(props: Omit<OpenStepsProps, 'classroom'> & { readonly actions: TryActions }) {
  const { room, lesson, scene, actions } = props;
  const denied = useDenied('run');
  const opened = openedAt(room, lesson.slug, scene.id);
  const elsewhere = (room.opened?.steps ?? []).filter((one) => one.lesson === lesson.slug);
  if (opened === null) {
    if (elsewhere.length === 0)
      return (
        <p className="small quiet">
          {t('The instructor has opened no step in which you can try changes.')}
        </p>
      );
    const titles = elsewhere.map(({ step }) => `“${stepTitle(lesson, step)}”`).join(', ');
    return <p className="small quiet">{t('You can change knobs in {titles}.', { titles })}</p>;
  }
  const { knobs } = actions;
  const usual = sceneKnobs(lesson, knobs, scene).params;
  const own = knobs.arms.some(isOwn);
  const same = !own && turnable(lesson).every(([name]) => knobs.params[name] === usual[name]);
  const why =
    denied ||
    actions.blocked ||
    (same && t('Change a knob first: these are the step’s own values.'));
  return (
    <>
      <div className="class-knobs">
        {turnable(lesson).map(([name, param]) => (
          <Knob
            key={name}
            {...{ name, param }}
            value={knobs.params[name] ?? param.default}
            fixed={fixedBecause(lesson, knobs, name)}
            onChange={(value) => actions.turnOne(name, value)}
          />
        ))}
      </div>
      {opened.patches && (
        <p className="small quiet">
          {own
            ? t('Your runs include your own patch.')
            : t('You may also change the patch. Runs of the changed patch count as attempts.')}
        </p>
      )}
      <p className="class-buttons">
        <button
          type="button"
          className="button"
          data-strong=""
          onClick={() => actions.attempt?.()}
          data-testid="class-try"
          {...off(why)}
        >
          {t('try it')}
        </button>
        {why && <span className="small quiet">{why}</span>}
      </p>
    </>
  );
}

// The runs of a class: who made each one, what was changed, its state, and its number.

interface GalleryProps {
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

export function Gallery(props: GalleryProps) {
  const { room, lesson } = props;
  const [order, setOrder] = useState<Order>('time');
  const here = room.tries.filter((one) => one.lesson === lesson.slug);
  const others = room.tries.length - here.length;
  const result = here.find((one) => one.result !== null)?.result;
  if (room.tries.length === 0) return <p className="small quiet">{t('No attempts yet.')}</p>;
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
                'The number is {title}. The number comes from a single traced run, so it explains something but proves nothing.',
                { title: result.title },
              )
            : t(
                'The number is {title} on the second lane, divided by {title} on the first lane. The number comes from a single traced run, so it explains something but proves nothing.',
                { title: result.title },
              )}
        </p>
      )}
    </>
  );
}

function Entry({ one, classroom, room, lesson, show }: GalleryProps & { readonly one: ClassTry }) {
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
            {...off(
              one.state !== 'done' && t('There is nothing to show until this run has ended.'),
            )}
          >
            {t('show to all')}
          </button>
        )}
      </p>
    </li>
  );
}
