// SPDX-License-Identifier: GPL-2.0-or-later
/** The left side: one step of the story, the sentence counted from the events, and the way on. */

import type { ReactNode } from 'react';
import { Fragment, memo } from 'react';
import Markdown from 'react-markdown';
import { Terms, useMarked } from '../panels/terms/terms.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { off } from '../ui/off.ts';
import { evidenceWords } from '../ui/words.ts';
import { useTop } from './use-top.ts';

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly prose: string;
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
  const { lesson, scene, prose, sentence, recorded, mismatch, children } = props;
  const at = lesson.scenes.indexOf(scene);
  const story = useTop(scene.id);
  const [before = '', after = ''] = prose.split(/^---$/m);
  return (
    <section ref={story} className="story" aria-label="Story" data-testid="story">
      <div className="story-text">
        <p className="eyebrow" data-testid="step-count">
          Step {at + 1} of {lesson.scenes.length}
        </p>
        <h2>{scene.title}</h2>
        {at === 0 && props.entry}
        <div className="prose">
          <Text>{before}</Text>
        </div>
        {props.note && (
          <p className="small quiet" data-testid="count-note">
            <b>On the count clock:</b> <Terms text={props.note} />
          </p>
        )}
        {/* A step's card knows nothing of the one before: a guess of then would scroll to it. */}
        <Fragment key={scene.id}>{props.predict}</Fragment>
        {after && props.predicted && (
          <div className="prose">
            <Text>{after}</Text>
          </div>
        )}
        {mismatch}
        {children}
        {at === lesson.scenes.length - 1 && props.end}
        <div className="story-links">
          {lesson.questions.length > 0 && (
            <button type="button" className="link" onClick={props.onQuestions}>
              {props.answered === 0
                ? `${lesson.questions.length} questions to point at`
                : `Questions: ${props.answered} of ${lesson.questions.length} answered`}
            </button>
          )}
          <button type="button" className="link" onClick={props.onCaveats} data-testid="caveats">
            What you should not conclude
          </button>
        </div>
      </div>
      <Sentence text={sentence} recorded={recorded} />
      <StepNav lesson={lesson} scene={scene} onStep={props.onStep} onEnd={props.onEnd} />
    </section>
  );
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

/** Dots and two buttons; arrows move between steps while the list has the focus. */
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
      aria-label="Steps"
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
        aria-label={before ? `Back to ${before.title}` : 'Back'}
        data-testid="step-back"
        {...off(!before && 'This is the first step.')}
      >
        back
      </button>
      <ol>
        {lesson.scenes.map((s, i) => (
          <li key={s.id}>
            <button
              type="button"
              title={s.title}
              aria-label={`Step ${i + 1}: ${s.title}`}
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
        aria-label={after ? `Next: ${after.title}` : onEnd ? 'Recap' : 'Next'}
        data-testid="step-next"
        {...off(!after && !onEnd && 'This is the last step.')}
      >
        {after || !onEnd ? 'next' : 'recap'}
      </button>
    </nav>
  );
}
