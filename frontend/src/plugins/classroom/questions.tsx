// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions in a class's panel: those that a member has to answer, and those that an instructor asks and reveals. */

import { type FormEvent, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { Audience, Reveal } from '../../plugins.tsx';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import { off } from '../../ui/parts.tsx';
import { answerKey, type ClassQuestion, keyOf, type Room, type TallyRound } from './class-state.ts';
import type { Classroom } from './classroom.ts';
import { useRoom } from './hooks.tsx';
import { pointId, pointOf, pointsOf } from './pointing.tsx';

// The questions of a class as shown: text, options, counts, and which ones wait for an answer. Pure.

export interface Asked {
  readonly key: string;
  readonly step: string;
  readonly question: string;
  readonly text: string;
  readonly options: readonly string[];
  /** The open round; if no round is open, the last round. */
  readonly round: 1 | 2;
  readonly revealed: boolean;
  /**
   * Whether the instructor has asked the question. Members can also answer a question that was not asked, such as the
   * step's prediction.
   */
  readonly asked: boolean;
  /** Index of the lesson's question if it is answered by pointing; null if it is answered by choosing an option. */
  readonly points: number | null;
}

type Predictions = Pick<Lesson, 'predictions' | 'questions'>;

function describe(lesson: Predictions, of: Omit<ClassQuestion, 'type' | 'class_id'>): Asked {
  const prediction = of.step ? lesson.predictions[of.question] : undefined;
  const points = of.step && prediction === undefined ? pointOf(lesson, of.question) : null;
  return {
    ...{ key: keyOf(of), step: of.step, question: of.question, revealed: of.revealed, points },
    text:
      of.text ||
      (prediction?.question ?? (points === null ? of.question : lesson.questions[points]!.ask)),
    options: of.options.length > 0 ? of.options : (prediction?.choices ?? []),
    round: of.round === 2 ? 2 : 1,
    asked: true,
  };
}

/**
 * The questions of a class. The questions of the current step come first, whether or not they were asked: the step's
 * prediction, then the questions that are answered by pointing. Other questions that were asked follow, newest first.
 */
export function askedIn(
  room: Room,
  lesson: Predictions,
  here: { readonly id: string; readonly predict?: string | null | undefined },
): readonly Asked[] {
  const points = pointsOf(lesson, here.id).map(pointId);
  const { predict } = here;
  const predicts = predict != null && lesson.predictions[predict] !== undefined ? [predict] : [];
  const own = [...predicts, ...points].map((question): Asked => {
    const known = room.questions.get(keyOf({ step: here.id, question }));
    if (known !== undefined) return describe(lesson, known);
    const never = { text: '', options: [], round: 1, revealed: false };
    return { ...describe(lesson, { ...never, step: here.id, question }), asked: false };
  });
  const keys = new Set(own.map(({ key }) => key));
  const rest = [...room.questions.values()].filter((one) => !keys.has(keyOf(one))).reverse();
  return [...own, ...rest.map((one) => describe(lesson, one))];
}

/**
 * When a member may see the answer. A follower sees it when the instructor reveals it. A member who does not follow
 * sees it at their own pace.
 */
export function revealOf(
  room: Pick<Room, 'part' | 'questions'>,
  following: boolean,
  { id: step, predict }: Pick<Scene, 'id' | 'predict'>,
): Reveal {
  if (predict === null) return 'own';
  const asked = room.questions.get(keyOf({ step, question: predict }));
  if (asked?.revealed) return 'revealed';
  if (room.part !== 'member' || !following) return 'own';
  return asked === undefined ? 'later' : 'posed';
}

/** For an instructor who leads the class: the members who answer the step's prediction, and their answers. */
export function useClassAudience({ id: step, predict }: Scene): Audience | null {
  const { classroom, room, open, driving } = useRoom();
  if (classroom === null || room === null || !open || !driving) return null;
  if (room.part !== 'instructor' || predict === null) return null;
  const of = { step, question: predict };
  const round = room.tallies.get(keyOf(of))?.rounds.at(-1);
  const counts = new Map(round?.bars.map(({ choice, count }) => [choice, count]));
  const revealed = room.questions.get(keyOf(of))?.revealed === true;
  const answers = round?.answers ?? 0;
  return {
    answers,
    here: room.facts?.connected ?? 0,
    counts: Array.from({ length: mostOptions }, (_, i) => counts.get(i) ?? 0),
    reveal: () => {
      if (answers > 0 && !revealed) classroom.reveal(of);
    },
  };
}

/** Shown in the last line of a slide: how to join the class. */
export function ClassOnSlide() {
  const { room, open } = useRoom();
  if (room === null || !open || room.part !== 'instructor') return null;
  return (
    <span className="class-on-slide" data-testid="class-on-slide">
      {rich('join at {host} with <b>{code}</b>', {
        host: location.host,
        code: room.facts?.code,
        b: (words) => <b>{words}</b>,
      })}
    </span>
  );
}

export function useClassReveal(scene: Scene): Reveal {
  const { room, open, following } = useRoom();
  return room === null || !open ? 'own' : revealOf(room, following, scene);
}

/**
 * Questions in the panel that a member still has to answer. `guessed`: whether they have made the step's prediction.
 */
export function waiting(
  room: Room,
  all: readonly Asked[],
  here: string,
  guessed: boolean,
): readonly Asked[] {
  return all.filter((one) => {
    if (!one.asked || one.revealed) return false;
    if (one.options.length === 0 && one.points === null) return false;
    if (room.answers.has(answerKey(one, one.round))) return false;
    // In the first round, the step's own card asks for the prediction.
    return one.step !== here || one.round === 2 || guessed || one.points !== null;
  });
}

/**
 * Questions whose answers the instructor has revealed, the latest question first. A member gets the tally of a question
 * only after the answers are revealed.
 */
export function revealedIn(room: Pick<Room, 'tallies'>, all: readonly Asked[]): readonly Asked[] {
  const order = [...room.tallies.keys()];
  return all
    .filter((one) => one.revealed && room.tallies.has(one.key))
    .sort((a, b) => order.indexOf(b.key) - order.indexOf(a.key));
}

export interface Column {
  readonly label: string;
  readonly count: number;
  /** Share of all answers of the round, 0 to 1. */
  readonly share: number;
  readonly own: boolean;
  /** Whether this is the right choice. */
  readonly right: boolean;
}

/** The number of answers per option, including options that nobody chose. */
export function columnsOf(
  { options }: Pick<Asked, 'options'>,
  round: TallyRound | null,
  own: number | null,
  truth: number | null = null,
): readonly Column[] {
  const counts = new Map<number, number>();
  const values: { label: string; count: number }[] = [];
  for (const { choice, value, count } of round?.bars ?? []) {
    if (choice !== null) counts.set(choice, count);
    else if (value !== null) values.push({ label: String(value), count });
  }
  const chosen = options.map((label, i) => ({
    ...{ label, count: counts.get(i) ?? 0, own: own === i, right: truth === i },
  }));
  const all = Math.max(1, round?.answers ?? 0);
  return [...chosen, ...values.map((one) => ({ ...one, own: false, right: false }))].map((one) => ({
    ...one,
    share: one.count / all,
  }));
}

// The class's answers: for each round, a bar per option.

interface HistogramProps {
  readonly room: Room;
  readonly asked: Asked;
  /** Returns the index of a question's right choice; null if this page does not know it. */
  readonly truthOf: TruthOf;
}

export type TruthOf = (asked: Asked) => number | null;

function Histogram({ room, asked, truthOf }: HistogramProps) {
  const tally = room.tallies.get(asked.key);
  if (tally === undefined) return null;
  return tally.rounds.map((round) => {
    const own = room.answers.get(answerKey(asked, round.round))?.choice ?? null;
    return (
      <figure
        key={round.round}
        className="class-histogram"
        data-testid={`class-histogram-${asked.question}-${round.round}`}
      >
        <figcaption className="small quiet">{captionOf(round, tally.rounds.length > 1)}</figcaption>
        <ul>
          {columnsOf(asked, round, own, asked.revealed ? truthOf(asked) : null).map((column) => (
            <li key={column.label} data-truth={column.right ? '' : undefined}>
              <span>
                {column.label} {column.own && <b>{t('(you)')}</b>}{' '}
                {column.right && <b>{t('✓ right')}</b>}
              </span>
              <span className="meter">
                <span style={{ width: `${100 * column.share}%` }} />
              </span>
              <span className="number">{column.count}</span>
            </li>
          ))}
        </ul>
      </figure>
    );
  });
}

/** The caption of a round: `Round 1: 12 answers, 5 right, 3 marks`. */
function captionOf({ round, answers, right, marks }: TallyRound, several: boolean): string {
  return t(
    '{several, select, yes {Round {round}: } other {}}{answers, plural, one {# answer} other {# answers}}{right, select, unknown {} other {, {right} right}}{marks, plural, =0 {} one {, # mark} other {, # marks}}',
    {
      ...{ several: several ? 'yes' : 'no', round, answers },
      ...{ right: right ?? 'unknown', marks: marks.length },
    },
  );
}

/** Maximum number of options of a question (MOST_OPTIONS of plugins/classroom/messages.py). */
const mostOptions = 6;

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
  readonly map: MapControl;
  readonly truthOf: TruthOf;
}

/** Selects the question whose answers are drawn as discs over the picture. */
export interface MapControl {
  readonly shown: string | null;
  readonly show: (key: string | null) => void;
  /** Goes to a question's step, then opens the question. The member answers it by pointing. */
  readonly point: (number: number) => void;
}

export function MemberQuestions({
  classroom,
  room,
  map,
  open,
  all,
  truthOf,
  here,
}: Props & {
  readonly open: readonly Asked[];
  readonly all: readonly Asked[];
  /** Id of the current step. */
  readonly here: string;
}) {
  const shown = revealedIn(room, all);
  // Show one result at a time: this step's latest result. If this step has no result, show the latest of all results.
  const first = shown.find(({ step }) => step === here) ?? shown[0];
  const before = shown.filter((one) => one !== first);
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
              {t('point at a mark in the picture')}
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
      {first && <Result {...{ room, map, truthOf }} one={first} />}
      {before.length > 0 && (
        <details className="class-before" data-testid="class-before">
          <summary className="small">
            {t('{count, plural, one {# earlier question} other {# earlier questions}}', {
              count: before.length,
            })}
          </summary>
          {before.map((one) => (
            <Result key={one.key} {...{ room, map, truthOf, one }} />
          ))}
        </details>
      )}
      {open.length + shown.length === 0 && (
        <p className="quiet small">
          {t('No question is open, and no answers have been revealed.')}
        </p>
      )}
    </>
  );
}

function Result({ room, map, truthOf, one }: Omit<Props, 'classroom'> & { readonly one: Asked }) {
  return (
    <section className="class-question" aria-label={t('Answers of the class')}>
      <p className="eyebrow">{t('How the class has answered')}</p>
      <p>{one.text}</p>
      <Histogram {...{ room, truthOf }} asked={one} />
      <MapButton {...{ room, map, one }} />
    </section>
  );
}

/** A button that shows where the class has pointed, if anybody has. */
function MapButton({ room, one, map }: Pick<Props, 'room' | 'map'> & { readonly one: Asked }) {
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
      {shown ? t('hide the places') : t('show where members pointed')}
    </button>
  );
}

export function InstructorQuestions({
  classroom,
  room,
  map,
  all,
  truthOf,
}: Props & { readonly all: readonly Asked[] }) {
  return (
    <>
      {all.map((one) => (
        <section key={one.key} className="class-question" aria-label={t('Question')}>
          {one.asked && !one.revealed && <p className="eyebrow">{t('Question to the class')}</p>}
          <p>{one.text}</p>
          {room.tallies.has(one.key) ? (
            <Histogram {...{ room, truthOf }} asked={one} />
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

function QuestionButtons({
  classroom,
  room,
  one,
}: Pick<Props, 'classroom' | 'room'> & { readonly one: Asked }) {
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
            ? t('Everybody sees the answers.')
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
          {t('Options, one per line')}
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
