// SPDX-License-Identifier: GPL-2.0-or-later
/** The class's panel at the side of the page. The panel is not a dialog, so the page stays usable. */

import './board.css';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { LessonNow } from '../../plugins.tsx';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useMedia } from '../../ui/parts.tsx';
import { ClassBar } from './class-bar.tsx';
import type { ClassLesson } from './class-lesson.tsx';
import type { Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { useRoom } from './hooks.tsx';
import { ConsentChoice, WatchedNote, WatchingNote } from './observe.tsx';
import {
  type Asked,
  askedIn,
  InstructorQuestions,
  type MapControl,
  MemberQuestions,
  revealedIn,
  type TruthOf,
  waiting,
} from './questions.tsx';
import { InstructorRaised, MemberRaised } from './raised.tsx';
import { reportHref } from './report/address.ts';
import { ConfusionCurve, Roster } from './roster.tsx';
import { Invite } from './start.tsx';
import { TimerChip, TimerForm } from './timer.tsx';
import { openedAt, type ShownFrom, useShow } from './tries.ts';
import { Gallery, OpenSteps, type TryActions, TryIt } from './try-panel.tsx';

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly all: readonly Asked[];
  /** Questions that wait for this member's answer. */
  readonly open: readonly Asked[];
  readonly onClose: () => void;
  readonly map: MapControl;
  readonly truthOf: TruthOf;
  /** The speaker's notes, which are shown only to the instructor. */
  readonly notes: ReactNode;
  readonly actions: TryActions;
  readonly show: ShownFrom;
}

function ClassPanel(props: Props) {
  const { classroom, room, lesson, scene, all, open, onClose, map, actions, show } = props;
  const { truthOf } = props;
  const teaches = room.part === 'instructor';
  return (
    <aside
      className="class-panel"
      aria-label={t('Class')}
      data-testid="class-panel"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header>
        <h2>{room.facts?.title}</h2>
        <button type="button" className="button" onClick={onClose}>
          {t('close')}
        </button>
      </header>
      {teaches ? (
        <>
          <Part title={t('Your notes')}>{props.notes}</Part>
          <Part title={t('Questions')}>
            <InstructorQuestions {...{ classroom, room, map, all, truthOf }} />
          </Part>
          <Part title={t('Asked by the class')}>
            <InstructorRaised {...{ classroom, room, lesson }} />
          </Part>
          <Part title={t('Timer on all screens')}>
            <TimerForm classroom={classroom} />
          </Part>
          <Part title={t('Let the class try')}>
            <OpenSteps {...{ classroom, room, lesson, scene }} />
          </Part>
          {room.tries.length > 0 && (
            <Part title={t('Runs of the class')}>
              <Gallery {...{ classroom, room, lesson, show }} />
            </Part>
          )}
          <Part title={t('Who is here')}>
            <Roster {...{ classroom, room, lesson }} />
          </Part>
          <Part title={t('Lost just now')}>
            <ConfusionCurve points={room.confusion} />
          </Part>
          <Report classId={room.classId} />
          <Ending
            words={t('end the class')}
            sure={t('End the class for everybody')}
            act={() => classroom.end()}
          />
        </>
      ) : (
        <>
          <Part title={t('Questions')}>
            <MemberQuestions {...{ classroom, room, map, open, all, truthOf }} here={scene.id} />
          </Part>
          <Part title={t('Ask the instructor')}>
            <MemberRaised {...{ classroom, room, lesson }} step={props.scene.id} />
          </Part>
          <ConsentChoice {...{ classroom, room }} />
          {(room.opened?.steps.length ?? 0) > 0 && (
            <Part title={t('Try it')}>
              <TryIt {...{ room, lesson, scene, actions }} />
            </Part>
          )}
          {room.tries.length > 0 && (
            <Part title={room.opened?.gallery ? t('Runs of the class') : t('Your runs')}>
              <Gallery {...{ classroom, room, lesson, show }} />
            </Part>
          )}
          <p className="small quiet">
            {rich('You are {name} here. <button>leave the class</button>', {
              name: room.name,
              button: (words) => (
                <button
                  type="button"
                  className="link"
                  onClick={() => classroom.leave()}
                  data-testid="class-leave"
                >
                  {words}
                </button>
              ),
            })}
          </p>
          <Ending
            words={t('delete my name, answers and questions')}
            sure={t('Delete these data and leave the class')}
            act={() => classroom.forgetMe()}
          />
        </>
      )}
    </aside>
  );
}

/** Links to the class's report, which contains no names and stays available after the class. */
function Report({ classId }: { readonly classId: string }) {
  const report = `api/classes/${encodeURIComponent(classId)}/report`;
  return (
    <p className="small quiet">
      {rich(
        'All answers, without names: <a>the report</a>, <a2>as a table (CSV)</a2>, <a3>as JSON</a3>.',
        {
          a: (words) => (
            <a
              href={reportHref(classId)}
              target="_blank"
              rel="noreferrer"
              data-testid="class-report-page"
            >
              {words}
            </a>
          ),
          a2: (words) => (
            <a href={`${report}.csv`} download data-testid="class-report">
              {words}
            </a>
          ),
          a3: (words) => (
            <a href={report} target="_blank" rel="noreferrer">
              {words}
            </a>
          ),
        },
      )}
    </p>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="class-part" aria-label={title}>
      <h3 className="eyebrow">{title}</h3>
      {children}
    </section>
  );
}

/** An action that cannot be undone takes two clicks. */
function Ending(props: {
  readonly words: string;
  readonly sure: string;
  readonly act: () => void;
}) {
  const [asked, setAsked] = useState(false);
  if (!asked)
    return (
      <p className="small">
        <button
          type="button"
          className="link"
          onClick={() => setAsked(true)}
          data-testid="class-ending"
        >
          {props.words}
        </button>
      </p>
    );
  return (
    <p className="class-buttons">
      <button type="button" className="button" onClick={props.act} data-testid="class-ending-sure">
        {props.sure}
      </button>
      <button type="button" className="button" onClick={() => setAsked(false)}>
        {t('cancel')}
      </button>
    </p>
  );
}

// Everything that a lesson page shows about its class: the bar, the side panel, the invitation.

interface AreaProps {
  readonly page: LessonNow;
  readonly own: ClassLesson;
  readonly notes: ReactNode;
}

export function ClassArea({ page, own, notes }: AreaProps) {
  const now = useRoom();
  const { classroom, room, open } = now;
  const { lesson, scene, arms, guess } = page;
  const { inClass, shown, show: showPlaces } = own;
  const [panel, setPanel] = useState(false);
  const [invites, setInvites] = useState(false);
  const all = room === null ? [] : askedIn(room, lesson, scene);
  const member = room?.part === 'member';
  const asks = room && member ? waiting(room, all, scene.id, guess.guess !== null) : [];
  const revealed = room && member ? revealedIn(room, all) : [];
  // The panel opens when a member gets a new question, a new result, or a step to try.
  const tries = member && openedAt(room, lesson.slug, scene.id) !== null;
  // On a phone the panel covers the picture, so going to another step closes it.
  const hand = useMedia('(max-width: 889px)');
  const { id } = scene;
  useEffect(() => {
    if (member && hand && id !== '') setPanel(false);
  }, [member, hand, id]);
  const news = JSON.stringify([
    ...asks.map((one) => `${one.key} ${one.round}`),
    ...revealed.map((one) => `${one.key} revealed`),
  ]);
  const announced = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const list = JSON.parse(news) as readonly string[];
    if (list.some((one) => !announced.current.has(one))) setPanel(true);
    announced.current = new Set([...announced.current, ...list]);
  }, [news]);
  useEffect(() => {
    if (tries) setPanel(true);
  }, [tries]);
  const show = useShow(page.place);
  if (classroom === null || room?.facts == null) return null;
  const truthOf: TruthOf = ({ step, question }) =>
    step === scene.id && question === scene.predict && page.truth !== null
      ? page.truth
      : (page.answers.truths?.[question] ?? null);
  const map: MapControl = {
    shown,
    show: showPlaces,
    // Close the panel, because it may cover the mark that the member has to select.
    point: (number) => {
      setPanel(false);
      page.pointAt(number);
    },
  };
  return (
    <>
      <ClassBar
        {...{ now, room, lesson, arms, inClass }}
        panel={panel && open}
        waiting={asks.length}
        onPanel={() => setPanel(!panel)}
        onInvite={() => setInvites(true)}
      />
      {panel && open && (
        <ClassPanel
          {...{ classroom, room, lesson, scene, all, map, show, truthOf }}
          actions={page.actions}
          notes={notes}
          open={asks}
          onClose={() => setPanel(false)}
        />
      )}
      <Dialog
        title={room.facts.title}
        open={invites && open}
        onClose={() => setInvites(false)}
        side="wide"
        testId="class-invite-dialog"
      >
        <Invite facts={room.facts} />
      </Dialog>
    </>
  );
}

// An overlay on every page of the class: the timer, and a note while the instructor observes a member's page.

export function ClassOverlay() {
  const { classroom, room, open } = useRoom();
  if (classroom === null || room === null || !open) return null;
  const of = { classroom, room };
  return (
    <aside className="class-overlay" aria-label={t('Messages of the class, on all pages')}>
      <TimerChip {...of} />
      {room.part === 'member' ? <WatchedNote {...of} /> : <WatchingNote {...of} />}
    </aside>
  );
}
