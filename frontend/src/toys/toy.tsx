// SPDX-License-Identifier: GPL-2.0-or-later
/** A race as it is played: rows on a line of time, with grips. It needs no run and starts none. */

import { useReducer } from 'react';
import { t } from '../base/lang/t.ts';
import { ToyFigure } from './figure.tsx';
import { ToyShell } from './shell.tsx';
import { begin, changed, type ToyAction, type ToyState } from './state.ts';
import type { Times, Toy } from './types.ts';

interface Props {
  readonly toy: Toy;
  readonly times: Times;
  /** The run whose distances these are, as people name it: "the recording x"; empty: none. */
  readonly run: string;
  /** Of the text in the picture, px. */
  readonly font?: number;
}

export function ToyFrame({ toy, times, run, font = 13 }: Props) {
  const [state, act] = useReducer(
    (now: ToyState, action: ToyAction) => changed(toy, times, now, action),
    null,
    () => begin(toy, times),
  );
  const play = toy.play(times, state.setting);
  return (
    <ToyShell
      title={toy.title}
      ask={toy.ask}
      outcome={play.outcome}
      goals={toy.goals.map(({ can, ...goal }) => ({ ...goal, can: () => can(times) }))}
      now={play.reached}
      reached={state.reached}
      source={`${sourceWords(times, run)} ${toy.leavesOut}`}
      onReset={() => act({ do: 'reset' })}
    >
      {toy.switches.length > 0 && (
        <fieldset className="toy-switches" aria-label={t('What the code does')}>
          {toy.switches.map(({ name, title }) => (
            <label key={name} className="toy-switch">
              <input
                type="checkbox"
                checked={state.setting.on[name] ?? false}
                onChange={() => act({ do: 'turn', name })}
                data-testid={`switch-${name}`}
              />
              {title}
            </label>
          ))}
        </fieldset>
      )}
      <ToyFigure {...{ toy, times, play, font }} setting={state.setting} onAct={act} />
    </ToyShell>
  );
}

/** Whose distances these are. */
export function sourceWords(times: Times, run: string): string {
  if (times.from === null || run === '') {
    return t('No run is shown that has these steps, so the distances are chosen, not measured.');
  }
  return t('Distances from {run}: {from}. What you move was not in it.', {
    run,
    from: times.from,
  });
}
