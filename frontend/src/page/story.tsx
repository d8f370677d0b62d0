// SPDX-License-Identifier: GPL-2.0-or-later
/** The text of a lesson: the step on the stage, in a column that scrolls all steps, and the sentence counted from the events. */

import { Fragment, memo, type ReactNode, useRef } from 'react';
import Markdown from 'react-markdown';
import { t } from '../base/lang/t.ts';
import { Terms, useMarked } from '../panels/terms/terms.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { evidenceWords } from '../ui/words.ts';
import { readable } from './reading.ts';
import { StepNav } from './step-nav.tsx';
import { useReading } from './use-reading.ts';
import { useTop } from './use-top.ts';
import type { Width } from './use-width.ts';

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** In the middle all steps stand below each other. */
  readonly width: Width;
  /** Scrolling leads to no other step now. */
  readonly fixed: boolean;
  /** Somebody has scrolled to the text of a step. */
  readonly onReach: (id: string) => void;
  /** The steps whose question is still open. */
  readonly asking: readonly Scene[];
  /** What is otherwise on the count clock; empty on the wall clock. */
  readonly note?: string;
  /** Computed from the events in view; empty while there are none. */
  readonly sentence: string;
  readonly recorded: boolean;
  /** Why the picture is not of this step's params, and what to do; null when it is. */
  readonly mismatch: ReactNode;
  /** The prediction; the text below the dashes waits until it is made. */
  readonly predict: ReactNode;
  readonly predicted: boolean;
  readonly children?: ReactNode;
  /** Stands under the title of the first step. */
  readonly entry?: ReactNode;
  /** Patch and evidence, where they stand below the text. */
  readonly side?: ReactNode;
  /** Ends the last step. */
  readonly end?: ReactNode;
  /** What comes after the last step; null: nothing does. */
  readonly onEnd?: (() => void) | null;
  readonly onStep: (id: string) => void;
  readonly onCaveats: () => void;
  readonly onQuestions: () => void;
  readonly answered: number;
}

/** The page is drawn again ten times a second while a moment moves; its prose stays. */
const Text = memo(({ children }: { readonly children: string }) => (
  <Markdown {...useMarked()}>{children}</Markdown>
));
Text.displayName = 'Text';

export function Story(props: Props) {
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
            // On a desk the element stays: what is inside goes on having the focus.
            key={width === 'middle' ? step.id : 'the step'}
            data-step={step.id}
            aria-current={step === scene ? 'step' : undefined}
          >
            {step === scene ? <Step {...props} /> : <OtherStep {...props} step={step} />}
          </article>
        ))}
      </div>
      <Sentence text={props.sentence} recorded={props.recorded} />
      {width !== 'narrow' && (
        <StepNav lesson={lesson} scene={scene} onStep={props.onStep} onEnd={props.onEnd} />
      )}
    </section>
  );
}

/** The step on the stage, with all that belongs to it. */
function Step(props: Props) {
  const { lesson, scene } = props;
  const [before, after] = partsOf(lesson, scene);
  const last = scene === lesson.scenes.at(-1);
  return (
    <>
      <Head {...props} step={scene} testId="step-count" />
      <Prose text={before} />
      {props.note && (
        <p className="small quiet" data-testid="count-note">
          <b>{t('On the count clock:')}</b> <Terms text={props.note} />
        </p>
      )}
      {/* A step's card knows nothing of the one before: a guess of then would scroll to it. */}
      <Fragment key={scene.id}>{props.predict}</Fragment>
      {props.predicted && <Prose text={after} />}
      {props.mismatch}
      {props.children}
      {last && props.end}
      <div className="story-links">
        {lesson.questions.length > 0 && (
          <button type="button" className="link" onClick={props.onQuestions}>
            {props.answered === 0
              ? t('{questions} questions to point at', { questions: lesson.questions.length })
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

/** A step above or below the one on the stage: its text, as far as it answers no question that is still open. */
function OtherStep({ step, ...props }: Props & { readonly step: Scene }) {
  const { lesson, scene, asking } = props;
  const much = readable(lesson.scenes, scene, step, asking);
  const [before, after] = partsOf(lesson, step);
  return (
    <>
      <Head {...props} step={step} />
      {much === 'title' ? (
        <p className="quiet">{t('Say what you expect in the step above; then this is shown.')}</p>
      ) : (
        <Prose text={before} />
      )}
      {much === 'all' && <Prose text={after} />}
    </>
  );
}

interface HeadProps extends Pick<Props, 'lesson' | 'entry'> {
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

/** The text of a step, before and after what it asks. */
function partsOf(lesson: Lesson, step: Scene): readonly [string, string] {
  const [before = '', after = ''] = (lesson.content[step.id] ?? '').split(/^---$/m);
  return [before, after];
}

/** What the events in view say, in one sentence. */
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
