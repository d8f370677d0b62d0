// SPDX-License-Identifier: GPL-2.0-or-later
/** How the class has answered: a bar an option, for each round. */

import { plural } from '../base/units.ts';
import { type Asked, columnsOf } from './asked.ts';
import { answerKey, type Room } from './class-state.ts';

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
        <figcaption className="small quiet">
          {tally.rounds.length > 1 ? `Round ${round.round}: ` : ''}
          {plural(round.answers, 'answer')}
          {round.right === null ? '' : `, ${round.right} right`}
          {round.marks.length > 0 ? `, ${plural(round.marks.length, 'mark')}` : ''}
        </figcaption>
        <ul>
          {columnsOf(asked, round, own).map(({ label, count, share, own: mine }) => (
            <li key={label}>
              <span>
                {label} {mine && <b>(you)</b>}
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
