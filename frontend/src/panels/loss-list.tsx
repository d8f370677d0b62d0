// SPDX-License-Identifier: GPL-2.0-or-later
/** Where events were lost, lane by lane. */

import { rich, t } from '../base/lang/t.ts';
import { CrossIcon } from '../ui/parts.tsx';

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
            <p className="quiet">
              {t('Nothing was lost: every event that the kernel wrote is here.')}
            </p>
          )}
          {lane.events > 0 && (
            <p>
              {rich('{icon} {events, plural, one {# event} other {# events}} lost.', {
                icon: <CrossIcon />,
                events: lane.events,
              })}
            </p>
          )}
          <ul>
            {lane.losses.map((loss) => (
              <li key={`${loss.where} ${loss.t0}`}>
                {t('{events} in the {where}, between {from} and {to} ms', {
                  events:
                    loss.events === null
                      ? t('An unknown number of events')
                      : t('{events, plural, one {# event} other {# events}}', {
                          events: loss.events,
                        }),
                  where: loss.where,
                  from: (loss.t0 / 1e6).toFixed(3),
                  to: (loss.t1 / 1e6).toFixed(3),
                })}
              </li>
            ))}
          </ul>
          {lane.gapRows > 0 && (
            <p>
              {t(
                '{gapRows, plural, one {# row} other {# rows}} were not sent to this browser, which was too slow. Reload the page to get them.',
                { gapRows: lane.gapRows },
              )}
            </p>
          )}
        </section>
      ))}
      <p className="small quiet">
        {t(
          'Counts and sentences of a stretch with losses are low by what was lost; no measured number comes from such a run.',
        )}
      </p>
    </div>
  );
}
