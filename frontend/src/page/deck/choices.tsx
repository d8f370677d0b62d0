// SPDX-License-Identifier: GPL-2.0-or-later
/** Answers to a question on a wall: hands are counted for each, and one is marked when it is known. */

import { t } from '../../base/lang/t.ts';
import { useHands } from './use-hands.ts';

interface Props {
  /** Hands are remembered by it. */
  readonly id: string;
  readonly choices: readonly string[];
  /** The right one, from 0; null: not shown yet. */
  readonly truth: number | null;
  /** Who says so. */
  readonly by: string;
}

export function Choices({ id, choices, truth, by }: Props) {
  const { counts, raise } = useHands(id, choices.length);
  const hands = counts.reduce((sum, n) => sum + n, 0);
  return (
    <ol className="ask-choices">
      {choices.map((choice, i) => (
        <li key={choice} data-truth={truth === i ? '' : undefined}>
          <button
            type="button"
            className="ask-choice"
            onClick={() => raise(i, 1)}
            title={t('one hand more (key of its number)')}
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
          {(counts[i] ?? 0) > 0 && (
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
