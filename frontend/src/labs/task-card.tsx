// SPDX-License-Identifier: GPL-2.0-or-later
/** One task of a lab: what is asked, how it is answered, what was answered, and what came of it. */

import { rich, t } from '../base/lang/t.ts';
import { Inline } from '../panels/prose.tsx';
import type { AnswerGiven, LabTask, MyTask } from '../protocol/contract.gen.ts';
import { type HandIn, TaskForm } from './task-form.tsx';
import { answerWords, attemptsLeft, pointsWords, standing } from './words.ts';

interface Props {
  readonly task: LabTask;
  readonly mine: MyTask;
  readonly number: number;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly with: HandIn;
  readonly blocked: string;
  readonly onAnswer: (answer: AnswerGiven) => Promise<boolean>;
}

export function TaskCard(props: Props) {
  const { task, mine, number, open, onOpen } = props;
  return (
    <li className="lab-task" data-state={mine.state} data-testid={`lab-task-${task.name}`}>
      <button type="button" className="lab-head" aria-expanded={open} onClick={onOpen}>
        <span className="lab-number">{number}</span>
        <span className="lab-title">{task.title}</span>
        <span className="small quiet" data-testid="lab-standing">
          {standing(task, mine)}
        </span>
      </button>
      {open && <Body {...props} />}
    </li>
  );
}

function Body({ task, mine, with: handIn, blocked, onAnswer }: Props) {
  const left = attemptsLeft(mine);
  return (
    <div className="lab-body">
      <p>
        <Inline text={task.ask} />
      </p>
      <Attempts task={task} mine={mine} />
      <Feedback mine={mine} />
      {mine.left !== 0 && mine.right === null && blocked !== 'over' && (
        <TaskForm task={task} with={handIn} blocked={blocked} onAnswer={onAnswer} />
      )}
      {left && <p className="small quiet">{left}</p>}
    </div>
  );
}

function Attempts({ task, mine }: { readonly task: LabTask; readonly mine: MyTask }) {
  if (mine.attempts.length === 0) return null;
  return (
    <ol className="lab-attempts small" aria-label={t('Your attempts')}>
      {mine.attempts.map((one) => (
        <li key={one.number}>
          <span className="lab-said">{answerWords(task, one.answer)}</span>
          {one.points !== null &&
            t(' — {given} of {most}', {
              ...{ given: pointsWords(one.points), most: pointsWords(task.points) },
            })}
          {one.found.map((line) => (
            <span key={line} className="quiet lab-found">
              {line}
            </span>
          ))}
          {one.comment && <span className="lab-comment">{one.comment}</span>}
        </li>
      ))}
    </ol>
  );
}

/** What is right, once it may be said. */
function Feedback({ mine }: { readonly mine: MyTask }) {
  if (mine.right === null && mine.why === null && mine.rubric.length === 0) return null;
  return (
    <div className="lab-right" data-testid="lab-right">
      {mine.right !== null && (
        <p>
          {rich('Right: <strong>{right}</strong>', {
            right: mine.right,
            strong: (words) => <strong>{words}</strong>,
          })}
        </p>
      )}
      {mine.why !== null && (
        <p>
          <Inline text={mine.why} />
        </p>
      )}
      {mine.rubric.length > 0 && (
        <ul className="small" aria-label={t('What a good explanation has')}>
          {mine.rubric.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
