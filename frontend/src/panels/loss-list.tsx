// SPDX-License-Identifier: GPL-2.0-or-later
/** Where events were lost, lane by lane. */

import { plural } from '../base/units.ts';
import { CrossIcon } from '../ui/icons.tsx';

export interface LaneLoss {
  readonly arm: string;
  readonly title: string;
  readonly events: number;
  readonly losses: readonly {
    readonly t0: number;
    readonly t1: number;
    /** Null: nobody can say how many. */
    readonly events: number | null;
    readonly where: string;
  }[];
  readonly gapRows: number;
}

export function LossList({ lanes }: { readonly lanes: readonly LaneLoss[] }) {
  return (
    <div className="loss-list">
      {lanes.map((lane) => (
        <section key={lane.arm}>
          <h3>{lane.title}</h3>
          {lane.events === 0 && lane.gapRows === 0 && (
            <p className="quiet">Nothing was lost: every event that the kernel wrote is here.</p>
          )}
          {lane.events > 0 && (
            <p>
              <CrossIcon /> {plural(lane.events, 'event')} lost.
            </p>
          )}
          <ul>
            {lane.losses.map((loss) => (
              <li key={`${loss.where} ${loss.t0}`}>
                {loss.events === null
                  ? 'An unknown number of events'
                  : plural(loss.events, 'event')}{' '}
                in the {loss.where}, between {(loss.t0 / 1e6).toFixed(3)} and{' '}
                {(loss.t1 / 1e6).toFixed(3)} ms
              </li>
            ))}
          </ul>
          {lane.gapRows > 0 && (
            <p>
              {plural(lane.gapRows, 'row')} were not sent to this browser, which was too slow.
              Reload the page to get them.
            </p>
          )}
        </section>
      ))}
      <p className="small quiet">
        Counts and sentences of a stretch with losses are low by what was lost; no measured number
        comes from such a run.
      </p>
    </div>
  );
}
