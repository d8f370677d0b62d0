// SPDX-License-Identifier: GPL-2.0-or-later
/** How the class has answered: a bar an option, for each round. */

import { t } from '../base/lang/t.ts';
import { type Asked, columnsOf } from './asked.ts';
import { answerKey, type Room, type TallyRound } from './class-state.ts';

export function Histogram({ room, asked }: { readonly room: Room; readonly asked: Asked }) {
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
          {columnsOf(asked, round, own).map(({ label, count, share, own: mine }) => (
            <li key={label}>
              <span>
                {label} {mine && <b>{t('(you)')}</b>}
              </span>
              <span className="meter">
                <span style={{ width: `${100 * share}%` }} />
              </span>
              <span className="number">{count}</span>
            </li>
          ))}
        </ul>
      </figure>
    );
  });
}

/** `Round 1: 12 answers, 5 right, 3 marks`. */
function captionOf({ round, answers, right, marks }: TallyRound, several: boolean): string {
  return t(
    '{several, select, yes {Round {round}: } other {}}{answers, plural, one {# answer} other {# answers}}{right, select, unknown {} other {, {right} right}}{marks, plural, =0 {} one {, # mark} other {, # marks}}',
    {
      ...{ several: several ? 'yes' : 'no', round, answers },
      ...{ right: right ?? 'unknown', marks: marks.length },
    },
  );
}
