// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson's challenges: what is asked of the arm, and how a change of it was judged. Nothing while a lesson has none. */

import { t } from '../base/lang/t.ts';
import type { ChangedMessage, JudgedMessage } from '../protocol/messages.ts';
import { useDenied, useJudged, useStore } from '../store/hooks.tsx';
import { off } from '../ui/parts.tsx';
import type { Door } from './door.tsx';

interface Props {
  readonly door: Door;
  /** The arm that is changed. */
  readonly base: string;
  /** Of the newest change of this arm. */
  readonly changed: ChangedMessage | null;
}

const marks = new Map([
  [true, t('holds')],
  [false, t('fails')],
  [null, t('not judged')],
]);

export function Challenges({ door, base, changed }: Props) {
  const given = Object.entries(door.lesson.challenges);
  if (given.length === 0) return null;
  const titleOf = (arm: string) => door.lesson.arms.find((one) => one.name === arm)?.title ?? arm;
  return (
    <details className="change-challenges" data-testid="challenges">
      <summary>{t('{n} challenges', { n: given.length })}</summary>
      <ol>
        {given.map(([name, one]) => (
          <li key={name} data-testid={`challenge-${name}`}>
            <b>{one.title}</b>{' '}
            <span className="quiet small">{t('of {arm}', { arm: titleOf(one.arm) })}</span>
            <p>{one.ask}</p>
            <details>
              <summary className="small">{t('hint')}</summary>
              <p className="small">{one.hint}</p>
            </details>
            {one.arm === base ? (
              <Judging {...{ door, name, changed }} answer={one.answer} />
            ) : (
              <button type="button" className="link small" onClick={() => door.open(one.arm)}>
                {t('change {arm}', { arm: titleOf(one.arm) })}
              </button>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

interface JudgingProps {
  readonly door: Door;
  readonly name: string;
  readonly changed: ChangedMessage | null;
  readonly answer: string;
}

function Judging({ door, name, changed, answer }: JudgingProps) {
  const store = useStore();
  // A lab with this challenge lets its students have their changes judged; the server knows which.
  const inLab = new URLSearchParams(location.search).has('lab');
  const denied = useDenied(inLab ? 'answer' : 'measure');
  const judged = useJudged();
  const { slug } = door.lesson;
  const arm = changed?.phase === 'built' ? changed.arm : '';
  const mine = judged?.lesson === slug && judged.challenge === name ? judged : null;
  const going = mine !== null && mine.phase !== 'done' && mine.phase !== 'failed';
  return (
    <>
      <button
        type="button"
        className="button"
        onClick={() => store.command({ type: 'judge', lesson: slug, challenge: name, arm })}
        data-testid={`judge-${name}`}
        {...off(
          door.blocked ||
            denied ||
            (going && t('It is being judged.')) ||
            (arm === '' && t('Run your change first: its kernel is what is judged.')),
        )}
      >
        {t('judge my change')}
      </button>
      {mine !== null && <Verdict judged={mine} />}
      {mine?.met && <p className="small">{answer}</p>}
    </>
  );
}

function Verdict({ judged }: { readonly judged: JudgedMessage }) {
  return (
    <div className="change-verdict" data-met={judged.met}>
      <p role="status">{verdictOf(judged)}</p>
      <ul className="small">
        {judged.lines.map((line) => (
          <li key={`${line.kind} ${line.says}`} data-holds={line.holds}>
            <b>{marks.get(line.holds)}</b> {line.says}: {line.found}
            {line.wanted && t('; wanted {wanted}', { wanted: line.wanted })}
          </li>
        ))}
      </ul>
    </div>
  );
}

function verdictOf({ phase, met, because, done, total }: JudgedMessage): string {
  if (phase === 'waiting') return because;
  if (phase === 'measuring')
    return total > 0
      ? t('guest {done} of {total} runs', { done: done + 1, total })
      : t('measuring');
  if (phase === 'building') return t('the debug kernel is being built');
  if (phase === 'stress') return t('stress on the debug kernel, a minute or two');
  if (phase === 'failed') return t('It could not be judged. {because}', { because });
  return met ? t('Met. {because}', { because }) : t('Not met. {because}', { because });
}
