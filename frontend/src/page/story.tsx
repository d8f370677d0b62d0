// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The text of a lesson: the current step, or all steps in a scrolling column, and the sentence computed from the
 * events.
 */

import {
  Fragment,
  memo,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react';
import { t } from '../base/lang/t.ts';
import { afterwards } from '../base/later.tsx';
import { bestRecording, isSavedRun } from '../derive/recording.ts';
import { sceneKnobs } from '../navigation/knobs.ts';
import { toRecording } from '../navigation/navigation.ts';
import { answersFile } from '../panels/predict.ts';
import { hasRecap } from '../panels/recap/memory.ts';
import { Terms, useMarked } from '../panels/terms/terms.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { Mismatch } from '../runs/runs-line.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { off, useMedia } from '../ui/parts.tsx';
import { evidenceWords } from '../ui/words.ts';
import { ToyInvitation } from './lesson-toy.tsx';
import { Prediction } from './prediction.tsx';
import type { LessonModel } from './use-lesson-page.ts';

const Discussion = afterwards(() => import('../panels/discussion.tsx').then((m) => m.Discussion));
const Entry = afterwards(() => import('../panels/discussion.tsx').then((m) => m.Entry));
const Questions = afterwards(() => import('../panels/dialogs.tsx').then((m) => m.Questions));
const RecapCard = afterwards(() => import('../panels/recap/recap.tsx').then((m) => m.RecapCard));

// Navigation between steps: a dot per step and two buttons.

/** A list of steps; arrow keys change the step while the list has the focus. */
export function StepNav({
  lesson,
  scene,
  onStep,
  onEnd = null,
}: {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly onStep: (id: string) => void;
  readonly onEnd?: (() => void) | null | undefined;
}) {
  const at = lesson.scenes.indexOf(scene);
  const before = lesson.scenes[at - 1];
  const after = lesson.scenes[at + 1];
  return (
    <nav
      className="steps"
      aria-label={t('Steps')}
      onKeyDown={(event) => {
        const to =
          event.key === 'ArrowRight' || event.key === 'ArrowDown'
            ? after
            : event.key === 'ArrowLeft' || event.key === 'ArrowUp'
              ? before
              : undefined;
        if (!to) return;
        event.preventDefault();
        event.stopPropagation();
        onStep(to.id);
      }}
    >
      <button
        type="button"
        className="button"
        onClick={() => before && onStep(before.id)}
        aria-label={before ? t('Back to {title}', { title: before.title }) : t('Back')}
        data-testid="step-back"
        {...off(!before && t('This is the first step.'))}
      >
        {t('back')}
      </button>
      <ol>
        {lesson.scenes.map((s, i) => (
          <li key={s.id}>
            <button
              type="button"
              title={s.title}
              aria-label={t('Step {i}: {title}', { i: i + 1, title: s.title })}
              aria-current={s === scene ? 'step' : undefined}
              onClick={() => onStep(s.id)}
            />
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="button"
        data-strong={after || onEnd ? '' : undefined}
        onClick={() => (after ? onStep(after.id) : onEnd?.())}
        aria-label={
          after ? t('Next: {title}', { title: after.title }) : onEnd ? t('Recap') : t('Next')
        }
        data-testid="step-next"
        {...off(!after && !onEnd && t('This is the last step.'))}
      >
        {after || !onEnd ? t('next') : t('recap')}
      </button>
    </nav>
  );
}

// For a story that scrolls: finds the step that the reader has reached. Pure.
// A step in a scrolling story shows no text that might answer an open question.

/** How much of a step's text is shown while another step is on the stage. */
export type Readable =
  | 'all'
  /** Only the part before the step's question. */
  | 'question'
  /** Only the title, because an earlier question is open and the text might answer it. */
  | 'title';

/** How much of a step's text to show. `asking` lists the steps whose question the viewer has not answered. */
export function readable(
  scenes: readonly Scene[],
  now: Scene,
  step: Scene,
  asking: readonly Scene[],
): Readable {
  if (asksBefore(scenes, now, step, asking) !== undefined) return 'title';
  return asking.includes(step) ? 'question' : 'all';
}

/** The first step with an open question, from the current step up to the step before `step`. */
export function asksBefore(
  scenes: readonly Scene[],
  now: Scene,
  step: Scene,
  asking: readonly Scene[],
): Scene | undefined {
  const [from, to] = [scenes.indexOf(now), scenes.indexOf(step)];
  return asking.find((one) => {
    const at = scenes.indexOf(one);
    return at >= from && at < to;
  });
}

/** Vertical position of a step's text in the window, px. */
export interface Standing {
  readonly id: string;
  readonly top: number;
}

/**
 * The step whose text crosses a horizontal line of the window. If the line is between two texts, the step of the upper
 * text. Null if every text begins below the line.
 */
export function reached(texts: readonly Standing[], line: number): string | null {
  return texts.findLast(({ top }) => top <= line)?.id ?? null;
}

// A column with the texts of all steps. Selecting a step scrolls to its title; scrolling to a step's text selects it.

/**
 * Scrolling must pause for this time before a step is selected, so that steps that only scroll past are not selected.
 */
const restMs = 140;
/** Height of the line at which people read, as a share of the window's height. */
const eyes = 0.4;
/** Maximum time between a wheel, touch or key event and a scroll event that it causes, ms. */
const intendedMs = 1200;

interface Reading {
  readonly on: boolean;
  /** The step on the stage. */
  readonly now: string;
  /**
   * Whether scrolling leaves the step unchanged, because the viewer's own live run is going on or they are editing a
   * patch.
   */
  readonly fixed: boolean;
  readonly onReach: (id: string) => void;
}

/** Selects steps by scrolling. `box` contains the texts of all steps, each with a `data-step` attribute. */
function useReading(
  box: RefObject<HTMLElement | null>,
  { on, now, fixed, onReach }: Reading,
): void {
  const latest = useRef({ now, fixed, onReach });
  latest.current = { now, fixed, onReach };
  /** The step that scrolling has selected, and the position at which its text must stay. */
  const led = useRef<{ readonly id: string; readonly top: number } | null>(null);

  useLayoutEffect(() => {
    const text = textOf(box.current, now);
    const from = led.current;
    led.current = null;
    if (!on || text === null) return;
    // After a question was opened from its picture, the reader continues at the question.
    const asked = text.querySelector('[data-asking]');
    if (from?.id === now) scrollBy(0, text.getBoundingClientRect().top - from.top);
    else if (asked) asked.scrollIntoView({ block: 'center' });
    else text.scrollIntoView({ block: 'start' });
  }, [box, on, now]);

  useEffect(() => {
    if (!on) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let held = false;
    /** Whether a scroll event arrived while a pointer button was down. */
    let late = false;
    const look = () => {
      const { now: here, fixed: still, onReach: reach } = latest.current;
      const id = reached(textsOf(box.current), innerHeight * eyes);
      late = held;
      if (still || held || id === null || id === here) return;
      const top = textOf(box.current, id)?.getBoundingClientRect().top ?? 0;
      led.current = { id, top };
      reach(id);
    };
    /** Time of the viewer's last scroll input. Kinetic scrolling goes on without input events. */
    let moved = Number.NEGATIVE_INFINITY;
    const intend = (event: Event) => {
      // A key that the page handles itself does not scroll.
      if (!event.defaultPrevented || event.type === 'wheel') moved = event.timeStamp;
    };
    const scrolled = ({ timeStamp }: Event) => {
      if (timeStamp - moved > intendedMs) return;
      moved = timeStamp;
      clearTimeout(timer);
      timer = setTimeout(look, restMs);
    };
    /** While the viewer drags in the picture or the scrubber, the step must not change. */
    const press = (event: PointerEvent) => {
      const { target } = event;
      held = target instanceof Element && target.closest('.lanes, .transport') !== null;
      // Pressing a scrollbar targets the root element.
      if (target === document.documentElement) intend(event);
    };
    const release = () => {
      held = false;
      if (late) look();
    };
    // Releasing the button outside the window, or over a scrollbar, sends no event.
    const move = ({ buttons }: PointerEvent) => {
      if (buttons === 0) release();
    };
    const moves = ['wheel', 'touchmove', 'keydown'] as const;
    for (const name of moves) addEventListener(name, intend, { passive: true });
    addEventListener('scroll', scrolled, { passive: true });
    addEventListener('pointerdown', press, true);
    addEventListener('pointermove', move, true);
    addEventListener('pointerup', release, true);
    addEventListener('pointercancel', release, true);
    return () => {
      clearTimeout(timer);
      for (const name of moves) removeEventListener(name, intend);
      removeEventListener('scroll', scrolled);
      removeEventListener('pointerdown', press, true);
      removeEventListener('pointermove', move, true);
      removeEventListener('pointerup', release, true);
      removeEventListener('pointercancel', release, true);
    };
  }, [box, on]);
}

function textsOf(box: HTMLElement | null): { id: string; top: number }[] {
  return [...(box?.querySelectorAll<HTMLElement>('[data-step]') ?? [])].map((text) => ({
    id: text.dataset['step'] ?? '',
    top: text.getBoundingClientRect().top,
  }));
}

function textOf(box: HTMLElement | null, id: string): HTMLElement | null {
  return box?.querySelector<HTMLElement>(`[data-step="${id}"]`) ?? null;
}

// A new step opens at its title instead of the previous scroll position.

/** If a step's title is in this upper share of the window, the page need not scroll to show the title. */
const upper = 0.5;

/** `on` is false where useReading controls scrolling. */
function useTop(step: string, on: boolean): RefObject<HTMLElement | null> {
  const story = useRef<HTMLElement>(null);
  const shown = useRef(step);
  useLayoutEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    if (on && story.current) toTop(story.current);
  }, [step, on]);
  useEffect(() => {
    // Without this setting, Back and Forward would restore another step's scroll position.
    const before = history.scrollRestoration;
    history.scrollRestoration = 'manual';
    return () => {
      history.scrollRestoration = before;
    };
  }, []);
  return story;
}

function toTop(story: HTMLElement): void {
  const text = story.querySelector('.story-text');
  if (text) text.scrollTop = 0;
  // After a question was opened from its picture, the reader continues at the question.
  const asked = story.querySelector('[data-asking]');
  if (asked) return asked.scrollIntoView({ block: 'nearest' });
  const title = story.querySelector('h2')?.getBoundingClientRect();
  if (title && (title.top < 0 || title.bottom > innerHeight * upper)) story.scrollIntoView();
}

// The layouts of a lesson: three columns, a scrolling text beside its picture, or one column.

/**
 * `middle` is a text column of at least 300 px beside a fixed picture of at least 520 px; `narrow` has no room for
 * both. The layout decides where elements are in the document, so style sheets alone are not enough.
 */
type Width = 'wide' | 'middle' | 'narrow';

export function useWidth(): Width {
  const narrow = useMedia('(max-width: 889px)');
  const desk = useMedia('(min-width: 1001px)');
  return narrow ? 'narrow' : desk ? 'wide' : 'middle';
}

interface StoryProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** In the middle layout all steps are in one column. */
  readonly width: Width;
  /** Whether scrolling leaves the step unchanged. */
  readonly fixed: boolean;
  /** Called when the reader has scrolled to a step's text. */
  readonly onReach: (id: string) => void;
  /** The steps whose question is still open. */
  readonly asking: readonly Scene[];
  /** How the step differs on the count clock; empty on the wall clock. */
  readonly note?: string;
  /** The sentence computed from the events in view; empty if there are no events. */
  readonly sentence: string;
  readonly recorded: boolean;
  /** Why the picture does not have this step's parameters, and what to do about it; null if the picture has them. */
  readonly mismatch: ReactNode;
  /** The prediction of the step. The text below `---` is hidden until the viewer has predicted. */
  readonly predict: ReactNode;
  readonly predicted: boolean;
  readonly children?: ReactNode;
  /** Content below the title of the first step. */
  readonly entry?: ReactNode;
  /** Patch and evidence, for layouts that place them below the text. */
  readonly side?: ReactNode;
  /** Stage and transport, for layouts that place them above the text. */
  readonly picture?: ReactNode;
  /** Content after the last step. */
  readonly end?: ReactNode;
  /** Opens the content that follows the last step; null if there is none. */
  readonly onEnd?: (() => void) | null;
  readonly onStep: (id: string) => void;
  readonly onCaveats: () => void;
  readonly onQuestions: () => void;
  readonly answered: number;
}

/** Memoised, because the page re-renders ten times a second while the moment moves. */
const Text = memo(({ children }: { readonly children: string }) => (
  <Markdown {...useMarked()}>{children}</Markdown>
));
Text.displayName = 'Text';

function Story(props: StoryProps) {
  const { lesson, scene, width } = props;
  const box = useRef<HTMLDivElement>(null);
  const story = useTop(scene.id, width !== 'middle');
  useReading(box, {
    on: width === 'middle',
    now: scene.id,
    fixed: props.fixed,
    onReach: props.onReach,
  });
  const steps = width === 'middle' ? lesson.scenes : [scene];
  return (
    <section ref={story} className="story" aria-label={t('Story')} data-testid="story">
      <div className="story-text" ref={box}>
        {steps.map((step) => (
          <article
            // In the wide and narrow layouts the step's element is reused for every step, so that it keeps the focus.
            key={width === 'middle' ? step.id : 'the step'}
            data-step={step.id}
            aria-current={step === scene ? 'step' : undefined}
          >
            {step === scene ? <Step {...props} /> : <OtherStep {...props} step={step} />}
          </article>
        ))}
      </div>
      {!props.picture && <Sentence text={props.sentence} recorded={props.recorded} />}
      {width !== 'narrow' && (
        <StepNav lesson={lesson} scene={scene} onStep={props.onStep} onEnd={props.onEnd} />
      )}
    </section>
  );
}

/** The step on the stage, with its prediction, sentence and notes. */
function Step(props: StoryProps) {
  const { lesson, scene } = props;
  const [before, after] = partsOf(lesson, scene);
  const last = scene === lesson.scenes.at(-1);
  return (
    <>
      <Head {...props} step={scene} testId="step-count" />
      {props.picture}
      {props.picture && <Sentence text={props.sentence} recorded={props.recorded} />}
      <Prose text={before} />
      {props.note && (
        <p className="small quiet" data-testid="count-note">
          <b>
            <Terms text={t('On the count clock:')} />
          </b>{' '}
          <Terms text={props.note} />
        </p>
      )}
      {/* The key is the step; otherwise a guess from an earlier step would scroll the page to its card. */}
      <Fragment key={scene.id}>{props.predict}</Fragment>
      {props.predicted && <Prose text={after} />}
      {props.mismatch}
      {props.children}
      {last && props.end}
      <div className="story-links">
        {lesson.questions.length > 0 && (
          <button type="button" className="link" onClick={props.onQuestions}>
            {props.answered === 0
              ? t('{questions} questions to answer in the picture', {
                  questions: lesson.questions.length,
                })
              : t('Questions: {answered} of {questions} answered', {
                  answered: props.answered,
                  questions: lesson.questions.length,
                })}
          </button>
        )}
        <button type="button" className="link" onClick={props.onCaveats} data-testid="caveats">
          {t('What you should not conclude')}
        </button>
      </div>
      {props.side}
    </>
  );
}

/** A step above or below the current step. Text that would answer an open question is hidden. */
function OtherStep({ step, ...props }: StoryProps & { readonly step: Scene }) {
  const { lesson, scene, asking } = props;
  const much = readable(lesson.scenes, scene, step, asking);
  const [before, after] = partsOf(lesson, step);
  return (
    <>
      <Head {...props} step={step} />
      {much === 'title' ? (
        <p className="quiet">
          {t('Say what you expect in the step above; then this part is shown.')}
        </p>
      ) : (
        <Prose text={before} />
      )}
      {much === 'all' && <Prose text={after} />}
    </>
  );
}

interface HeadProps extends Pick<StoryProps, 'lesson' | 'entry'> {
  readonly step: Scene;
  readonly testId?: string;
}

function Head({ lesson, step, entry, testId }: HeadProps) {
  const at = lesson.scenes.indexOf(step);
  return (
    <>
      <p className="eyebrow" data-testid={testId}>
        {t('Step {at} of {scenes}', { at: at + 1, scenes: lesson.scenes.length })}
      </p>
      <h2>{step.title}</h2>
      {at === 0 && entry}
    </>
  );
}

function Prose({ text }: { readonly text: string }) {
  if (!text) return null;
  return (
    <div className="prose">
      <Text>{text}</Text>
    </div>
  );
}

/** The parts of a step's text before and after its question. */
function partsOf(lesson: Lesson, step: Scene): readonly [string, string] {
  const [before = '', after = ''] = (lesson.content[step.id] ?? '').split(/^---$/m);
  return [before, after];
}

/** One sentence about the events in view. */
export function Sentence({
  text,
  recorded,
}: {
  readonly text: string;
  readonly recorded: boolean;
}) {
  if (!text) return null;
  return (
    <p className="sentence" data-testid="sentence" data-volatile>
      <span className="evidence">{evidenceWords(text, recorded)}</span>
      <Terms text={text} />
    </p>
  );
}

// The left column of a lesson page: the step's text, mismatch notes, the prediction and the questions.

interface LessonStepsProps {
  readonly page: LessonModel;
}

interface LessonStoryProps extends LessonStepsProps {
  readonly width: Width;
  /** Patch and evidence, for layouts that place them below the text. */
  readonly side: ReactNode;
  /** Stage and transport, for layouts that place them above the text. */
  readonly picture: ReactNode;
  /** Whether a patch is being edited. */
  readonly changing: boolean;
}

export function LessonStory({ page, width, side, picture, changing }: LessonStoryProps) {
  const { lesson, scene, place, server, guess, answers, actions, acts } = page;
  const clock = server.run?.clock ?? actions.knobs.clock;
  const open = recapOf(page);
  return (
    <Story
      lesson={lesson}
      scene={scene}
      width={width}
      fixed={changing || actions.running}
      onReach={(id) => page.step(id, {}, 'replace')}
      asking={guess.asking}
      note={clock === 'count' ? (scene.on_count?.note ?? '') : ''}
      sentence={guess.veiled ? '' : page.sentence}
      recorded={page.recorded}
      answered={answers.answered.length}
      mismatch={<RunMismatch page={page} />}
      predict={<Prediction page={page} />}
      predicted={guess.predicted}
      entry={<Entry lesson={lesson} />}
      end={
        <>
          {open && <RecapCard lesson={lesson} onOpen={open} />}
          <Discussion slug={lesson.slug} discussion={lesson.discussion} />
        </>
      }
      onEnd={open}
      side={side}
      picture={picture}
      onStep={page.step}
      onCaveats={acts.caveats}
      onQuestions={acts.questions}
    >
      <ToyInvitation page={page} />
      {place.panes.includes('questions') && <LessonQuestions page={page} />}
    </Story>
  );
}

/** The step buttons at the end of the page. */
export function LessonSteps({ page }: LessonStepsProps) {
  const { lesson, scene, step } = page;
  return <StepNav {...{ lesson, scene }} onStep={step} onEnd={recapOf(page)} />;
}

/** Opens the recap; null if the lesson has none. */
function recapOf({ lesson, setDialog }: LessonModel): (() => void) | null {
  return hasRecap(lesson) ? () => setDialog('recap') : null;
}

function RunMismatch({ page }: LessonStepsProps) {
  const { lesson, scene, arms, actions, live, go } = page;
  const { run } = page.server;
  if (run === null) return null;
  const best = bestRecording(lesson, scene);
  const title = (name: string) => lesson.arms.find((a) => a.name === name)?.title ?? name;
  return (
    <Mismatch
      lesson={lesson}
      scene={scene}
      run={run}
      missing={arms.filter((a) => !run.arms.includes(a)).map(title)}
      blocked={actions.running ? t('Your live run goes on.') : actions.blocked}
      onRun={() => actions.begin(sceneKnobs(lesson, actions.knobs, scene))}
      onRecording={
        (live || isSavedRun(run.run_id)) && best ? () => go(toRecording(best.name)) : null
      }
    />
  );
}

function LessonQuestions({ page }: LessonStepsProps) {
  const { lesson, scene, place, answers, questions, playback } = page;
  return (
    <Questions
      lesson={lesson}
      scene={scene.id}
      file={() => answersFile(lesson, answers)}
      answered={answers.answered}
      asking={questions.asking}
      said={questions.said}
      onAsk={(i) => {
        questions.ask(i);
        if (i === null) page.toggle('questions', false);
        else playback.pause();
      }}
      onStep={(id, i) => {
        page.step(id, { panes: place.panes });
        questions.ask(i);
      }}
      onForget={() => page.save({ ...answers, answered: [], marks: {} })}
    />
  );
}
