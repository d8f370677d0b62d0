// SPDX-License-Identifier: GPL-2.0-or-later
/** Dialogs: keyboard shortcuts, limits of the lesson, questions. */

import { t } from '../base/lang/t.ts';
import type { Act, Key } from '../controls/keyboard.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Inline } from './prose.tsx';
import { saveFile } from './recap/memory.ts';
import { Terms } from './terms/terms.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** The keys that trigger an action. */
function keysOf(keys: readonly Key[], act: Act): readonly string[] {
  return keys.find((key) => key.act === act)?.keys ?? [];
}

export function HelpDialog({
  keys,
  open,
  onClose,
}: DialogProps & { readonly keys: readonly Key[] }) {
  return (
    <Dialog
      title={t('Keys')}
      open={open}
      onClose={onClose}
      testId="help"
      closedBy={keysOf(keys, 'help')}
    >
      <dl className="keys">
        {keys.map((key) => (
          <div key={key.act}>
            <dt>
              <kbd>{key.shown}</kbd>
            </dt>
            <dd>{key.what}</dd>
          </div>
        ))}
      </dl>
      <p className="small quiet">
        {t(
          'A click on a mark shows its raw records. A click on the overview moves the window. On a time axis, scrolling or a pinch zooms (with Ctrl where the page scrolls). A drag or sideways scrolling moves the window, and a drag with Shift selects a new window. While a run plays, sentences, tables and the numbers in the picture change together, ten times a second. While the run is paused, all of them show the current moment.',
        )}
      </p>
    </Dialog>
  );
}

export function CaveatDialog({
  lesson,
  keys = [],
  open,
  onClose,
}: DialogProps & { readonly lesson: Lesson; readonly keys?: readonly Key[] }) {
  return (
    <Dialog
      title={t('What you should not conclude')}
      open={open}
      onClose={onClose}
      testId="caveats-sheet"
      closedBy={keysOf(keys, 'caveats')}
    >
      <ul className="caveats">
        {lesson.caveats.map((text) => (
          <li key={text}>
            <Inline text={text} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

interface QuestionProps {
  readonly lesson: Lesson;
  /** Returns the viewer's answers as a file. */
  readonly file: () => string;
  readonly answered: readonly number[];
  /** Index of the question that the next selected mark answers; null if no question is chosen. */
  readonly asking: number | null;
  /** Result of the last selected mark for the current question, or a notice that no question is chosen. */
  readonly said: string;
  readonly onAsk: (index: number | null) => void;
  readonly onForget: () => void;
  /** Id of the step on the stage. */
  readonly scene: string;
  /** Go to a step and choose the question with this index. */
  readonly onStep: (step: string, index: number) => void;
}

/** The list of questions. It is in the story column, so that marks on the stage can still be selected. */
export function Questions(props: QuestionProps) {
  const { lesson, answered, asking, said } = props;
  return (
    <section className="card questions" aria-label={t('Questions')} data-testid="questions">
      <header>
        <h3>{t('Answer by pointing')}</h3>
        <button type="button" className="link" onClick={() => props.onAsk(null)}>
          {t('close')}
        </button>
      </header>
      {asking === null && said && (
        <p className="small" role="status" data-testid="answer">
          {said}
        </p>
      )}
      <ol>
        {lesson.questions.map((q, i) => {
          const done = answered.includes(i);
          return (
            <li key={q.ask} data-asking={asking === i ? '' : undefined}>
              <button
                type="button"
                className="question"
                aria-pressed={asking === i}
                onClick={() => props.onAsk(i)}
                data-testid={`question-${i}`}
              >
                <span aria-hidden="true">{done ? '✓' : i + 1}</span>
                {q.ask}
              </button>
              {done && (
                <p className="small quiet why">
                  <Terms text={q.why} />
                </p>
              )}
              {!done && q.step !== props.scene && (
                <button
                  type="button"
                  className="link small"
                  onClick={() => props.onStep(q.step, i)}
                  data-testid={`question-step-${i}`}
                >
                  {t('its picture: “{title}”', {
                    title: lesson.scenes.find((one) => one.id === q.step)?.title,
                  })}
                </button>
              )}
              {asking === i && !done && (
                <p className="small" role="status" data-testid="answer">
                  {said || t('Click on a mark in the picture.')}
                </p>
              )}
            </li>
          );
        })}
      </ol>
      {answered.length > 0 && (
        <p className="question-links">
          <button
            type="button"
            className="link small"
            onClick={() => saveFile(`${lesson.slug}-answers.json`, props.file())}
            data-testid="download-answers"
          >
            {t('download my answers')}
          </button>{' '}
          <button type="button" className="link small" onClick={props.onForget}>
            {t('start again')}
          </button>
        </p>
      )}
    </section>
  );
}
