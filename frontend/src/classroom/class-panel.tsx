// SPDX-License-Identifier: GPL-2.0-or-later
/** The panel of a class beside the page, which can be used meanwhile: no dialog. */

import { type ReactNode, useState } from 'react';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { reportHref } from '../report/address.ts';
import type { Asked } from './asked.ts';
import type { Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { Gallery } from './gallery.tsx';
import { InstructorQuestions, type MapControl, MemberQuestions } from './questions.tsx';
import { InstructorRaised, MemberRaised } from './raised.tsx';
import { ConfusionCurve, Roster } from './roster.tsx';
import { ConsentChoice } from './shoulder.tsx';
import { TimerForm } from './timer.tsx';
import { OpenSteps, type TryActions, TryIt } from './try-panel.tsx';
import type { ShownFrom } from './use-shown.ts';

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly all: readonly Asked[];
  /** What this member is to answer. */
  readonly open: readonly Asked[];
  readonly onClose: () => void;
  readonly map: MapControl;
  /** For the instructor alone. */
  readonly notes: ReactNode;
  readonly actions: TryActions;
  readonly show: ShownFrom;
}

export function ClassPanel(props: Props) {
  const { classroom, room, lesson, scene, all, open, onClose, map, actions, show } = props;
  const teaches = room.part === 'instructor';
  return (
    <aside
      className="class-panel"
      aria-label="Class"
      data-testid="class-panel"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header>
        <h2>{room.facts?.title}</h2>
        <button type="button" className="button" onClick={onClose}>
          close
        </button>
      </header>
      {teaches ? (
        <>
          <Part title="Your notes">{props.notes}</Part>
          <Part title="Questions">
            <InstructorQuestions {...{ classroom, room, map, all }} />
          </Part>
          <Part title="Asked by the class">
            <InstructorRaised {...{ classroom, room, lesson }} />
          </Part>
          <Part title="Timer on all screens">
            <TimerForm classroom={classroom} />
          </Part>
          <Part title="Let them try">
            <OpenSteps {...{ classroom, room, lesson, scene }} />
          </Part>
          {room.tries.length > 0 && (
            <Part title="Runs of the class">
              <Gallery {...{ classroom, room, lesson, show }} />
            </Part>
          )}
          <Part title="Who is here">
            <Roster {...{ classroom, room, lesson }} />
          </Part>
          <Part title="Lost just now">
            <ConfusionCurve points={room.confusion} />
          </Part>
          <Report classId={room.classId} />
          <Ending words="end the class" sure="End it for all" act={() => classroom.end()} />
        </>
      ) : (
        <>
          <Part title="Questions">
            <MemberQuestions {...{ classroom, room, map, open, all }} />
          </Part>
          <Part title="Ask the instructor">
            <MemberRaised {...{ classroom, room, lesson }} step={props.scene.id} />
          </Part>
          <ConsentChoice {...{ classroom, room }} />
          {(room.opened?.steps.length ?? 0) > 0 && (
            <Part title="Try it">
              <TryIt {...{ room, lesson, scene, actions }} />
            </Part>
          )}
          {room.tries.length > 0 && (
            <Part title={room.opened?.gallery ? 'Runs of the class' : 'Your runs'}>
              <Gallery {...{ classroom, room, lesson, show }} />
            </Part>
          )}
          <p className="small quiet">
            You are {room.name} here.{' '}
            <button
              type="button"
              className="link"
              onClick={() => classroom.leave()}
              data-testid="class-leave"
            >
              leave the class
            </button>
          </p>
          <Ending
            words="delete my name, answers and questions"
            sure="Delete them and leave"
            act={() => classroom.forgetMe()}
          />
        </>
      )}
    </aside>
  );
}

/** What was answered, without names; it can be asked for after the class, too. */
function Report({ classId }: { readonly classId: string }) {
  const report = `api/classes/${encodeURIComponent(classId)}/report`;
  return (
    <p className="small quiet">
      All answers, without names:{' '}
      <a
        href={reportHref(classId)}
        target="_blank"
        rel="noreferrer"
        data-testid="class-report-page"
      >
        the report
      </a>
      ,{' '}
      <a href={`${report}.csv`} download data-testid="class-report">
        as a table (CSV)
      </a>
      ,{' '}
      <a href={report} target="_blank" rel="noreferrer">
        as JSON
      </a>
      .
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

/** What cannot be taken back takes two clicks. */
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
        cancel
      </button>
    </p>
  );
}
