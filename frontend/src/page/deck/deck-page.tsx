// SPDX-License-Identifier: GPL-2.0-or-later
/** The page that a projector shows: a deck of slides, controlled by a clicker. */

import { type CSSProperties, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import { MomentOutput } from '../../controls/transport.tsx';
import { answeredBy } from '../../derive/prediction.ts';
import { dateWords } from '../../panels/discussion.tsx';
import { Legend } from '../../panels/legend.tsx';
import { LaneErrors, Notices } from '../../panels/notices.tsx';
import { rightWords } from '../../panels/recap/memory.ts';
import { SourceBadge } from '../../panels/state-strip.tsx';
import { Drawing, Terms } from '../../panels/terms/terms.tsx';
import { Slot, useAudience } from '../../plugins.tsx';
import type { Lesson, QuizQuestion } from '../../protocol/lesson.ts';
import { off } from '../../ui/parts.tsx';
import { evidenceWords } from '../../ui/words.ts';
import { LessonDialogs } from '../lesson-dialogs.tsx';
import { LessonToy, ToyButton, toyOpen } from '../lesson-toy.tsx';
import { LessonStage } from '../stage.tsx';
import { failedArms, type LessonModel, notJudged } from '../use-lesson-page.ts';
import { EvidenceSlide } from './evidence-slide.tsx';
import { claimOf, headOf, type Stop } from './slides.ts';
import { type Deck, offersToy, useDeck } from './use-deck.ts';
import './deck.css';

// First slides of a deck: the patch mail's author, date and subject, and the lesson's terms with drawings.

interface WordsSlideProps {
  readonly lesson: Lesson;
  readonly terms: readonly string[];
  readonly mail: boolean;
}

function WordsSlide({ lesson, terms, mail }: WordsSlideProps) {
  const shown = terms.flatMap((name) => lesson.terms.find((term) => term.name === name) ?? []);
  const first = Object.values(lesson.mails)[0];
  return (
    <div className="words-slide" data-testid="words">
      {mail && first && (
        <p className="words-mail" data-testid="words-mail">
          {rich(
            'This lesson began with a mail from <b>{author}</b>, <time>{date}</time>: <q>{subject}</q>',
            {
              author: first.author,
              b: (words) => <b>{words}</b>,
              date: dateWords(first.date),
              time: (words) => <time dateTime={first.date}>{words}</time>,
              subject: first.subject,
              q: (words) => <q>{words}</q>,
            },
          )}
        </p>
      )}
      <ul className="words-cards">
        {shown.map((term) => (
          <li key={term.name}>
            <Drawing svg={lesson.drawings[term.name] ?? ''} />
            <h2>{term.name}</h2>
            <p>{term.says}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}

// A slide with a step's claim and the picture that shows it. The picture contains all lanes of the step.
// Below the picture is a sentence that is computed from the events.

/** Largest factor by which a picture is enlarged if it does not fill the stage. */
const largest = 2;
/**
 * Heights of lane headers, px: with one lane, with several lanes, and with many lanes. With many lanes the legend hides
 * muted kinds.
 */
const [usualHeader, lowHeader, lowestHeader] = [34, 26, 21];
const many = 4;

function headerOf(lanes: number): number {
  return lanes >= many ? lowestHeader : lanes > 1 ? lowHeader : usualHeader;
}

export function zoomOf(has: number, needs: number): number {
  return needs > 0 && has > 0 ? Math.max(1, Math.min(largest, has / needs)) : 1;
}

function ZoomedStage({ page }: { readonly page: LessonModel }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const outer = box.current;
    if (outer === null) return undefined;
    const zoom = () => {
      const lanes = outer.querySelector<HTMLElement>('.lanes');
      const needs = Number.parseFloat(lanes?.style.getPropertyValue('--lanes-height') ?? '');
      const whole = outer.querySelector('.undrawn') === null;
      outer.style.setProperty('--zoom', String(whole ? zoomOf(outer.clientHeight, needs) : 1));
    };
    const observer = new ResizeObserver(zoom);
    observer.observe(outer);
    const changes = new MutationObserver(zoom);
    changes.observe(outer, { subtree: true, childList: true, attributeFilter: ['style'] });
    zoom();
    return () => {
      observer.disconnect();
      changes.disconnect();
    };
  }, []);
  const lanes = page.arms.length;
  return (
    <div ref={box} className="deck-stage" data-many={lanes >= many ? '' : undefined}>
      <LessonStage page={page} headerHeight={headerOf(lanes)} />
    </div>
  );
}

function PictureSlide({ page }: { readonly page: LessonModel }) {
  if (toyOpen(page)) return <LessonToy page={page} />;
  return <Picture page={page} />;
}

function Picture({ page }: { readonly page: LessonModel }) {
  const { lesson, scene, theme, server, sentence } = page;
  return (
    <>
      <p className="deck-claim" data-testid="claim">
        <Terms text={claimOf(lesson, scene)} />
      </p>
      <Notices />
      <LaneErrors failed={failedArms(lesson, server)} />
      <ZoomedStage page={page} />
      <Legend lesson={lesson} scene={scene} theme={theme} index={page.index} />
      <p className="deck-sentence" data-testid="sentence" data-volatile>
        {sentence && <span className="evidence">{evidenceWords(sentence, page.recorded)}</span>}
        <Terms text={sentence} />
      </p>
    </>
  );
}

// A show of hands: the speaker counts the hands for each choice with the number keys.
// The counts of hands are lost when the page closes.

const none: readonly number[] = [];
/** Largest number of hands that can be counted per choice. */
const most = 999;

/** The hand counts of all choices, after adding `by` hands to one choice. */
export function withHand(counts: readonly number[], choice: number, by: number): readonly number[] {
  const length = Math.max(counts.length, choice + 1);
  return Array.from({ length }, (_, i) =>
    i === choice ? Math.max(0, Math.min(most, (counts[i] ?? 0) + by)) : (counts[i] ?? 0),
  );
}

const asked = new Map<string, readonly number[]>();

/** While the question is on the projector, each of the keys 1 to 9 adds a hand to the count of a choice. */
function useHands(id: string, choices: number) {
  const [, again] = useState(0);
  const raise = (choice: number, by: number) => {
    asked.set(id, withHand(asked.get(id) ?? none, choice, by));
    again((n) => n + 1);
  };
  const latest = useRef(raise);
  latest.current = raise;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const choice = Number(event.key) - 1;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (Number.isInteger(choice) && choice >= 0 && choice < choices) latest.current(choice, 1);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [choices]);
  return { counts: asked.get(id) ?? none, raise };
}

// The choices of a question on the projector, each with its number of hands. The right choice is marked once revealed.

interface ChoicesProps {
  /** Key under which the hand counts are stored. */
  readonly id: string;
  readonly choices: readonly string[];
  /** Index of the right choice; null until it is revealed. */
  readonly truth: number | null;
  /** The source of the answer, shown next to the right choice. */
  readonly by: string;
  /** Number of answers per choice to add to the hand counts, such as a class's answers. */
  readonly more?: readonly number[];
}

function Choices({ id, choices, truth, by, more = none }: ChoicesProps) {
  const { counts: raised, raise } = useHands(id, choices.length);
  const counts = choices.map((_, i) => (raised[i] ?? 0) + (more[i] ?? 0));
  const hands = counts.reduce((sum, n) => sum + n, 0);
  return (
    <ol className="ask-choices">
      {choices.map((choice, i) => (
        <li key={choice} data-truth={truth === i ? '' : undefined}>
          <button
            type="button"
            className="ask-choice"
            onClick={() => raise(i, 1)}
            title={t('one hand more (press the key with the answer’s number)')}
          >
            <b>{i + 1}</b>
            <span className="ask-words">{choice}</span>
            {truth === i && <span className="ask-truth">{by}</span>}
            {hands > 0 && (
              <span className="ask-hands">
                <i style={{ width: `${(100 * (counts[i] ?? 0)) / hands}%` }} />
                <span className="number">{counts[i] ?? 0}</span>
              </span>
            )}
          </button>
          {(raised[i] ?? 0) > 0 && (
            <button
              type="button"
              className="ask-fewer"
              aria-label={t('One hand fewer for {choice}', { choice })}
              onClick={() => raise(i, -1)}
            >
              −
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

// A prediction on the projector has two stops. At the first stop the question is shown and the speaker counts hands.
// At the second stop of a prediction, the answer is shown.

interface AskSlideProps {
  readonly page: LessonModel;
  readonly revealed: boolean;
}

function AskSlide({ page, revealed }: AskSlideProps) {
  const { lesson, scene, guess, contended } = page;
  const { prediction } = guess;
  const audience = useAudience(scene);
  const latest = useRef(audience);
  latest.current = audience;
  // Revealing the answer on the projector also reveals it on all pages of the class.
  useEffect(() => {
    if (revealed) latest.current?.reveal();
  }, [revealed]);
  if (prediction === undefined) return null;
  const why = notJudged(lesson, scene, prediction, page.server.run, contended);
  const answer = why === '' ? guess.answer : null;
  const truth = revealed && answer !== null ? answer.choice : null;
  return (
    <div className="ask" data-revealed={truth === null ? undefined : ''} data-testid="ask">
      <p className="ask-question">
        <Terms text={prediction.question} />
      </p>
      <Choices
        id={`${lesson.slug} ${scene.predict}`}
        choices={prediction.choices}
        truth={truth}
        by={answer === null ? '' : answeredBy(answer).who}
        {...(revealed && audience ? { more: audience.counts } : {})}
      />
      <p className="ask-answer" data-testid="ask-answer" data-volatile>
        {!revealed && audience !== null && (
          <b data-testid="ask-audience">
            {t('Answer on your own page. {answers} of {here} have answered.', {
              answers: audience.answers,
              here: audience.here,
            })}{' '}
          </b>
        )}
        {!revealed
          ? t(
              'Ask for a show of hands. Keys 1 to 9 count the hands. The next key press shows what happened.',
            )
          : answer !== null
            ? `${answeredBy(answer).how}: ${answer.words}`
            : why ||
              t('The run on the stage has not counted enough events yet to answer this question.')}
      </p>
    </div>
  );
}

// Last slides of a deck: the question to explain in three sentences, and the quiz questions.
// Each question has two stops: before and after its answer is shown.

function ExplainSlide({ lesson, revealed }: { lesson: Lesson; revealed: boolean }) {
  const { explain } = lesson;
  if (explain === null) return null;
  return (
    <div className="ask" data-testid="explain">
      <p className="ask-question">
        <Terms text={explain.ask} />
      </p>
      <ol className="ask-choices">
        {explain.ours.map((sentence, i) => (
          <li key={sentence}>
            <div className="ask-choice ask-sentence">
              <b>{i + 1}</b>
              <span className="ask-words">{revealed && <Terms text={sentence} />}</span>
            </div>
          </li>
        ))}
      </ol>
      <p className="ask-answer">
        {revealed
          ? t('Our sentences, for comparison.')
          : t('Explain it in three sentences of your own. The next key press shows our sentences.')}
      </p>
    </div>
  );
}

interface QuizProps {
  readonly lesson: Lesson;
  readonly questions: readonly number[];
  readonly revealed: boolean;
}

function QuizSlide({ lesson, questions, revealed }: QuizProps) {
  const asked = questions.flatMap((i) => lesson.quiz[i] ?? []);
  const [first] = asked;
  if (first === undefined) return null;
  if (asked.length > 1) return <AllQuestions asked={asked} />;
  const { choices, right, unit } = first;
  const number = choices.length === 0;
  return (
    <div className="ask" data-revealed={revealed ? '' : undefined} data-testid="quiz">
      <p className="ask-question">
        <Terms text={first.ask} />
      </p>
      {number ? (
        <div className="ask-choices">
          <p className="ask-choice ask-number" data-truth={revealed ? '' : undefined}>
            {revealed ? rightWords(first) : `? ${unit}`}
          </p>
        </div>
      ) : (
        <Choices
          id={`${lesson.slug} quiz ${questions[0]}`}
          choices={choices}
          truth={revealed && right !== null ? right - 1 : null}
          by="right"
        />
      )}
      <p className="ask-answer" data-testid="quiz-why">
        {revealed ? (
          <Terms text={first.why} />
        ) : number ? (
          t('Ask for a number. The next key press shows the answer.')
        ) : (
          t(
            'Ask for a show of hands. Keys 1 to 9 count the hands. The next key press shows the answer.',
          )
        )}
      </p>
    </div>
  );
}

/** All quiz questions on one printed page. */
function AllQuestions({ asked }: { readonly asked: readonly QuizQuestion[] }) {
  return (
    <ol className="quiz-sheet">
      {asked.map(({ ask, choices, unit }) => (
        <li key={ask}>
          <p>{ask}</p>
          {choices.length === 0 ? (
            <p className="quiz-line">{unit}</p>
          ) : (
            <ul>
              {choices.map((choice) => (
                <li key={choice}>{choice}</li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}

// Slides are laid out on a small sheet, which is scaled up to the size of the window.
// At 1920x1080 the page's smallest text, 13 px, becomes 20 px high.

/** Size of the sheet on which slides are laid out, px. At 1920x1080 the sheet is scaled by 1.549. */
export const sheet = { width: 1240, height: 697 } as const;

/**
 * Scale of the slide sheet for a window size. The scale is at least 1. If the window is smaller than the sheet, the
 * sheet shrinks instead.
 */
export function deckScale(width: number, height: number): number {
  return Math.max(1, Math.min(width / sheet.width, height / sheet.height));
}

/** Style of an element that fills the window, in px before scaling. */
export function sheetStyle(width: number, height: number): CSSProperties {
  const scale = deckScale(width, height);
  return { width: width / scale, height: height / scale, transform: `scale(${scale})` };
}

function useSheet(): CSSProperties {
  const now = () => sheetStyle(window.innerWidth, window.innerHeight);
  const [style, set] = useState(now);
  useEffect(() => {
    const follow = () => set(now());
    addEventListener('resize', follow);
    return () => removeEventListener('resize', follow);
  });
  return style;
}

export function DeckPage({ page }: { readonly page: LessonModel }) {
  const deck = useDeck(page);
  return (
    <div className="lesson deck" data-present data-testid="present" style={useSheet()}>
      <SlideFace page={page} stop={deck.stop} />
      <DeckFoot page={page} deck={deck} />
      <LessonDialogs page={page} asks={deck.stop.slide.kind === 'ask' && !deck.stop.revealed} />
    </div>
  );
}

interface FaceProps {
  readonly page: LessonModel;
  readonly stop: Stop;
  readonly paper?: boolean;
}

/** A slide, as shown on a projector or printed. */
export function SlideFace({ page, stop, paper = false }: FaceProps) {
  const { lesson, scene, server, kernel } = page;
  const { kind } = stop.slide;
  const ofRun = kind === 'picture' || kind === 'evidence';
  const ofStep = ofRun || kind === 'ask';
  return (
    <>
      <header className="deck-top" data-kind={kind}>
        <span className="eyebrow number">
          {ofStep ? `${lesson.scenes.indexOf(scene) + 1} / ${lesson.scenes.length}` : lesson.title}
        </span>
        <h1>{headOf(lesson, scene, stop)}</h1>
        {ofRun && <SourceBadge run={server.run} kernel={kernel} />}
        {ofRun && server.run && (
          <span className="badge">
            {rich('clock <b>{clock}</b>', {
              clock: t('{clock, select, count {count} other {wall}}', { clock: server.run.clock }),
              b: (words) => <b>{words}</b>,
            })}
          </span>
        )}
      </header>
      <main
        className="deck-body"
        data-kind={kind}
        data-step={stop.step}
        data-revealed={stop.revealed ? '' : undefined}
        data-ready={page.nav.settled && page.nav.whole ? '' : undefined}
        data-testid={`slide-${kind}`}
      >
        <SlideBody page={page} stop={stop} paper={paper} />
      </main>
    </>
  );
}

function SlideBody({ page, stop: { slide, revealed }, paper }: Required<FaceProps>) {
  const { lesson } = page;
  switch (slide.kind) {
    case 'words':
      return <WordsSlide lesson={lesson} terms={slide.terms} mail={slide.mail} />;
    case 'ask':
      return <AskSlide page={page} revealed={revealed} />;
    case 'picture':
      return <PictureSlide page={page} />;
    case 'evidence':
      return <EvidenceSlide page={page} parts={slide.parts} paper={paper} />;
    case 'explain':
      return <ExplainSlide lesson={lesson} revealed={revealed} />;
    case 'quiz':
      return <QuizSlide lesson={lesson} questions={slide.questions} revealed={revealed} />;
  }
}

function DeckFoot({ page, deck }: { readonly page: LessonModel; readonly deck: Deck }) {
  const { playback, index, acts } = page;
  const { at, stops, stop, slides, act } = deck;
  const { state } = playback;
  return (
    <footer className="deck-foot">
      <button
        type="button"
        className="button"
        onClick={() => act('back')}
        {...off(at === 0 && t('This is the first slide.'))}
        data-testid="deck-back"
      >
        {t('back')}
      </button>
      <button
        type="button"
        className="button"
        data-strong={at < stops.length - 1 ? '' : undefined}
        onClick={() => act('next')}
        {...off(at === stops.length - 1 && t('This is the last slide.'))}
        data-testid="deck-next"
      >
        {t('next')}
      </button>
      <span className="number" data-testid="deck-count">
        {t('{number} of {slides}', { number: stop.number, slides })}
      </span>
      {offersToy(page, stop) && <ToyButton page={page} hint=" (y)" />}
      {stop.slide.kind === 'picture' && !toyOpen(page) && (
        <>
          <button type="button" className="button" onClick={playback.toggle} data-testid="play">
            {state.mode === 'paused' ? t('play') : t('pause')}
          </button>
          <MomentOutput className="number" axis={index?.axis ?? null} frame={playback.frame} />
          <span className="number">{state.speedWords}</span>
        </>
      )}
      <span className="spring" />
      <Slot part="OnSlide" given={{}} />
      <button type="button" className="link" onClick={acts.share} data-testid="deck-share">
        {t('link (a)')}
      </button>
      <button type="button" className="link" onClick={() => act('notes')} data-testid="deck-notes">
        {t('notes (s)')}
      </button>
      <button type="button" className="link" onClick={() => act('handout')}>
        {t('handout (h)')}
      </button>
      <button type="button" className="link" onClick={acts.present}>
        {t('leave (p)')}
      </button>
    </footer>
  );
}
