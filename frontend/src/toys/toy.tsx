// SPDX-License-Identifier: GPL-2.0-or-later
/** A toy as it is played: what to do, the picture, what comes of it, goals. It needs no run and starts none. */

import { useReducer, useState } from 'react';
import { ToyFigure } from './figure.tsx';
import { begin, changed, type ToyAction, type ToyState } from './state.ts';
import type { Play, Times, Toy } from './types.ts';

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
    <section className="toy" aria-label={toy.title} data-testid="toy">
      <header className="toy-head">
        <h3>{toy.title}</h3>
        <span className="evidence toy-badge">a rule, not a run</span>
        <span className="spring" />
        <button type="button" className="button" onClick={() => act({ do: 'reset' })}>
          reset
        </button>
      </header>
      <p className="toy-ask">{toy.ask}</p>
      {toy.switches.length > 0 && (
        <fieldset className="toy-switches" aria-label="What the code does">
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
      <Outcome play={play} />
      <Goals toy={toy} times={times} now={play.reached} reached={state.reached} />
      <p className="small quiet" data-testid="toy-source">
        {sourceWords(times, run)} {toy.leavesOut}
      </p>
    </section>
  );
}

/** Whose distances these are. */
export function sourceWords(times: Times, run: string): string {
  if (times.from === null || run === '') {
    return 'No run is shown that has these steps, so the distances are chosen, not measured.';
  }
  return `Distances from ${run}: ${times.from}. What you move was not in it.`;
}

function Outcome({ play }: { readonly play: Play }) {
  const { words, face } = play.outcome;
  return (
    <p className="toy-outcome" data-face={face} role="status" data-testid="toy-outcome">
      {words}
    </p>
  );
}

interface GoalsProps {
  readonly toy: Toy;
  readonly times: Times;
  readonly now: readonly string[];
  readonly reached: readonly string[];
}

function Goals({ toy, times, now, reached }: GoalsProps) {
  const [asked, setAsked] = useState<readonly string[]>([]);
  return (
    <ul className="toy-goals" aria-label="Goals">
      {toy.goals.map(({ name, title, can }) => {
        const done = reached.includes(name);
        return (
          <li
            key={name}
            data-reached={done ? '' : undefined}
            data-now={now.includes(name) ? '' : undefined}
            data-testid={`goal-${name}`}
          >
            <span aria-hidden="true" className="toy-tick">
              {done ? '✓' : ''}
            </span>
            <span>
              {title}
              {done && <b> reached</b>}
            </span>
            {!done && !asked.includes(name) && (
              <button
                type="button"
                className="link small"
                onClick={() => setAsked([...asked, name])}
                aria-label={`Can it be done? ${title}`}
              >
                can it be done?
              </button>
            )}
            {asked.includes(name) && <span className="small quiet">{can(times)}</span>}
          </li>
        );
      })}
    </ul>
  );
}
