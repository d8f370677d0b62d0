// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions in the panel of a class: what a member is to answer, and what an instructor asks and reveals. */

import { type FormEvent, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { off } from '../ui/parts.tsx';
import { type Asked, revealedIn } from './asked.ts';
import type { Room } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { Histogram } from './histogram.tsx';

/** Of a question (MOST_OPTIONS of class_commands.py). */
const mostOptions = 6;

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly map: MapControl;
}

/** Whose places are shown over the picture. */
export interface MapControl {
  readonly shown: string | null;
  readonly show: (key: string | null) => void;
  /** Opens a question that is answered by pointing; its step is gone to first. */
  readonly point: (number: number) => void;
}

export function MemberQuestions({
  classroom,
  room,
  map,
  open,
  all,
}: Props & { readonly open: readonly Asked[]; readonly all: readonly Asked[] }) {
  const shown = revealedIn(room, all);
  return (
    <>
      {open.map((one) => (
        <section
          key={`${one.key} ${one.round}`}
          className="class-question"
          aria-label={t('Question')}
        >
          <p className="eyebrow">
            {one.round === 2 ? t('The same question again') : t('A question')}
          </p>
          <p>{one.text}</p>
          {one.points !== null && (
            <button
              type="button"
              className="button"
              onClick={() => map.point(one.points!)}
              data-testid={`class-point-${one.question}`}
            >
              {t('point at it in the picture')}
            </button>
          )}
          <ul data-testid={`class-options-${one.question}`}>
            {one.options.map((option, choice) => (
              <li key={option}>
                <button
                  type="button"
                  className="button choice"
                  onClick={() =>
                    classroom.answer({
                      ...{ step: one.step, question: one.question, round: one.round, choice },
                    })
                  }
                >
                  {option}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {shown.map((one) => (
        <section key={one.key} className="class-question" aria-label={t('Answers of the class')}>
          <p className="eyebrow">{t('How the class has answered')}</p>
          <p>{one.text}</p>
          <Histogram room={room} asked={one} />
          <MapButton room={room} one={one} map={map} />
        </section>
      ))}
      {open.length + shown.length === 0 && (
        <p className="quiet small">
          {t('No question is open, and no answers have been revealed.')}
        </p>
      )}
    </>
  );
}

/** Shows where the class has pointed, where somebody has. */
function MapButton({ room, one, map }: Omit<Props, 'classroom'> & { readonly one: Asked }) {
  const marks = room.tallies.get(one.key)?.rounds.at(-1)?.marks.length ?? 0;
  if (marks === 0) return null;
  const shown = map.shown === one.key;
  return (
    <button
      type="button"
      className="button"
      aria-pressed={shown}
      onClick={() => map.show(shown ? null : one.key)}
      data-testid={`class-map-${one.question}`}
    >
      {shown ? t('hide the places') : t('show where they pointed')}
    </button>
  );
}

export function InstructorQuestions({
  classroom,
  room,
  map,
  all,
}: Props & { readonly all: readonly Asked[] }) {
  return (
    <>
      {all.map((one) => (
        <section key={one.key} className="class-question" aria-label={t('Question')}>
          <p>{one.text}</p>
          {room.tallies.has(one.key) ? (
            <Histogram room={room} asked={one} />
          ) : (
            <p className="small quiet">{t('Nobody has answered yet.')}</p>
          )}
          <QuestionButtons {...{ classroom, room, one }} />
          <MapButton {...{ room, one, map }} />
        </section>
      ))}
      <PollForm classroom={classroom} />
    </>
  );
}

function QuestionButtons({ classroom, room, one }: Omit<Props, 'map'> & { readonly one: Asked }) {
  const { step, question, options } = one;
  const answers = room.tallies.get(one.key)?.rounds.reduce((n, r) => n + r.answers, 0) ?? 0;
  const of = { step, question, options: step ? options.slice(0, mostOptions) : [] };
  return (
    <p className="class-buttons">
      {!one.asked && (
        <button
          type="button"
          className="button"
          onClick={() => classroom.ask(of)}
          data-testid={`class-ask-${question}`}
        >
          {t('ask')}
        </button>
      )}
      {one.asked && one.round === 1 && (
        <button
          type="button"
          className="button"
          onClick={() => classroom.ask({ ...of, round: 2 })}
          data-testid={`class-again-${question}`}
          {...off(one.revealed && t('The answers have been revealed.'))}
        >
          {t('ask again')}
        </button>
      )}
      <button
        type="button"
        className="button"
        onClick={() => classroom.reveal({ step, question })}
        data-testid={`class-reveal-${question}`}
        {...off(
          one.revealed
            ? t('All see the answers.')
            : answers === 0 && t('Nobody has answered this question yet.'),
        )}
      >
        {one.revealed ? t('revealed') : t('reveal')}
      </button>
    </p>
  );
}

function PollForm({ classroom }: { readonly classroom: Classroom }) {
  const [text, setText] = useState('');
  const [lines, setLines] = useState('');
  const options = [...new Set(lines.split('\n').map((line) => line.trim()))].filter(Boolean);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    classroom.ask({ text: text.trim(), options });
    setText('');
    setLines('');
  };
  const why = !text.trim()
    ? t('A poll needs a question.')
    : options.length < 2 || options.length > mostOptions
      ? t('A poll has 2 to {most} options.', { most: mostOptions })
      : '';
  return (
    <details className="class-poll">
      <summary>{t('a question of your own')}</summary>
      <form className="class-form" onSubmit={submit}>
        <label>
          {t('Question')}
          <input
            value={text}
            maxLength={300}
            onChange={(event) => setText(event.target.value)}
            data-testid="class-poll-text"
          />
        </label>
        <label>
          {t('Options, one a line')}
          <textarea
            rows={3}
            maxLength={760}
            value={lines}
            onChange={(event) => setLines(event.target.value)}
            data-testid="class-poll-options"
          />
        </label>
        <button type="submit" className="button" data-testid="class-poll-ask" {...off(why)}>
          {t('ask the class')}
        </button>
      </form>
    </details>
  );
}
