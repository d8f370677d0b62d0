// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions that members ask: a member's form and list, and the instructor's actions on them. */

import { type FormEvent, useEffect, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { off } from '../../ui/parts.tsx';
import type { Raised, Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { stepTitle } from './roster.tsx';

/** Maximum length of a question, in characters (RAISED_CHARS of plugins/classroom/messages.py). */
const mostChars = 280;

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly lesson: Lesson;
}

export function MemberRaised({ step, ...props }: Props & { readonly step: string }) {
  const { classroom, room } = props;
  const { own, raised } = room.board;
  const mine = own?.asked ?? [];
  const shown = raised?.questions ?? [];
  const seen = new Set(shown.map(({ number }) => number));
  return (
    <>
      <AskForm {...{ classroom, step }} asked={mine.length} />
      <ul className="class-raised" data-testid="class-raised">
        {mine
          .filter(({ number }) => !seen.has(number))
          .map((one) => (
            <li key={one.number}>
              <Words {...props} one={one}>
                {one.hidden
                  ? t('hidden by the instructor')
                  : t('your question, seen by the instructor')}
              </Words>
            </li>
          ))}
        {shown.map((one) => {
          const voted = own?.voted.includes(one.number) ?? false;
          return (
            <li key={one.number} data-answered={one.answered ? '' : undefined}>
              <button
                type="button"
                className="button class-vote number"
                aria-pressed={voted}
                aria-label={t('{votes}, I have this question, too', { votes: one.votes })}
                title={voted ? t('Withdraw your vote') : t('I have this question, too')}
                onClick={() => classroom.upvote(one.number, !voted)}
                data-testid={`class-vote-${one.number}`}
              >
                ▲ {one.votes}
              </button>
              <Words {...props} one={one}>
                {mine.some(({ number }) => number === one.number) && t('yours')}
              </Words>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** The form sends no name. The text stays in the field until the server has accepted the question. */
function AskForm(props: {
  readonly classroom: Classroom;
  readonly step: string;
  readonly asked: number;
}) {
  const { classroom, step, asked } = props;
  const [text, setText] = useState(classroom.draft);
  const [before, setBefore] = useState<number | null>(null);
  const taken = before !== null && asked > before;
  useEffect(() => {
    if (!taken) return;
    classroom.draft = '';
    setText('');
  }, [classroom, taken]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBefore(asked);
    classroom.raise(text, step);
  };
  return (
    <form className="class-form" onSubmit={submit}>
      <label>
        {t('Your question, without your name')}
        <textarea
          rows={2}
          maxLength={mostChars}
          value={text}
          onChange={(event) => {
            classroom.draft = event.target.value;
            setText(event.target.value);
            setBefore(null);
          }}
          data-testid="class-raise-text"
        />
      </label>
      <p className="class-buttons">
        <button
          type="submit"
          className="button"
          data-testid="class-raise"
          {...off(text.trim() === '' && t('Type a question.'))}
        >
          {t('ask')}
        </button>
        <span className="small quiet" role="status">
          {taken && t('The instructor has received your question, without your name.')}
        </span>
      </p>
    </form>
  );
}

export function InstructorRaised(props: Props) {
  const { classroom, room } = props;
  const { raised } = room.board;
  const questions = raised?.questions ?? [];
  const shown = raised?.shown ?? false;
  return (
    <>
      <p className="class-buttons">
        <button
          type="button"
          className="button"
          aria-pressed={shown}
          onClick={() => classroom.showRaised(!shown)}
          data-testid="class-show-raised"
        >
          {shown ? t('shown to all') : t('show to all, for voting')}
        </button>
      </p>
      {questions.length === 0 && (
        <p className="quiet small">{t('Nobody has asked anything. Names are never shown.')}</p>
      )}
      <ol className="class-raised" data-testid="class-raised">
        {questions.map((one) => (
          <li
            key={one.number}
            data-answered={one.answered ? '' : undefined}
            data-hidden={one.hidden ? '' : undefined}
          >
            <b
              className="class-votes number"
              title={t('{votes, plural, one {# vote} other {# votes}}', { votes: one.votes })}
            >
              ▲ {one.votes}
            </b>
            <Words {...props} one={one}>
              {one.hidden && t('hidden')}
            </Words>
            <p className="class-buttons">
              <button
                type="button"
                className="button"
                aria-pressed={one.answered}
                onClick={() =>
                  classroom.settle({
                    ...{ number: one.number, answered: !one.answered, hidden: one.hidden },
                  })
                }
                data-testid={`class-answered-${one.number}`}
              >
                {t('answered')}
              </button>
              <button
                type="button"
                className="link"
                onClick={() =>
                  classroom.settle({
                    ...{ number: one.number, answered: one.answered, hidden: !one.hidden },
                  })
                }
                data-testid={`class-hide-${one.number}`}
              >
                {one.hidden ? t('show again') : t('hide')}
              </button>
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

function Words(props: Props & { readonly one: Raised; readonly children: React.ReactNode }) {
  const { one, lesson, children } = props;
  const about = [one.answered && t('answered'), children, one.step && stepTitle(lesson, one.step)];
  return (
    <div>
      <p className="class-raised-text">{one.text}</p>
      <p className="small quiet">{about.filter(Boolean).join(' · ')}</p>
    </div>
  );
}
