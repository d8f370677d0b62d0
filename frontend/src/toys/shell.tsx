// SPDX-License-Identifier: GPL-2.0-or-later
/** The frame around every interactive rule: instructions, badge, result, goals, and the source of the data. */

import { type ReactNode, type RefObject, useLayoutEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Face } from './types.ts';

export interface ShellGoal {
  readonly name: string;
  readonly title: string;
  /** Tries out the rule, and returns a sentence that says whether the goal can be reached. */
  readonly can: () => string;
}

interface Props {
  readonly title: string;
  readonly ask: string;
  readonly outcome: { readonly words: string; readonly face: Face };
  readonly goals: readonly ShellGoal[];
  /** Names of the goals that the current setting reaches. `reached` lists all goals reached so far. */
  readonly now: readonly string[];
  readonly reached: readonly string[];
  /** A text that names the source of the data and what the rule omits. */
  readonly source: string;
  readonly onReset: () => void;
  readonly children: ReactNode;
}

export function ToyShell({ title, ask, outcome, source, onReset, children, ...goals }: Props) {
  return (
    <section className="toy" aria-label={title} data-testid="toy">
      <header className="toy-head">
        <h3>{title}</h3>
        <span className="evidence toy-badge">{t('a rule, not a run')}</span>
        <span className="spring" />
        <button type="button" className="button" onClick={onReset}>
          {t('reset')}
        </button>
      </header>
      <p className="toy-ask">{ask}</p>
      {children}
      <p className="toy-outcome" data-face={outcome.face} role="status" data-testid="toy-outcome">
        {outcome.words}
      </p>
      <Goals {...goals} />
      <p className="small quiet" data-testid="toy-source">
        {source}
      </p>
    </section>
  );
}

function Goals({ goals, now, reached }: Pick<Props, 'goals' | 'now' | 'reached'>) {
  const [asked, setAsked] = useState<readonly string[]>([]);
  return (
    <ul className="toy-goals" aria-label={t('Goals')}>
      {goals.map(({ name, title, can }) => {
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
              {done && <b>{t(' reached')}</b>}
            </span>
            {!done && !asked.includes(name) && (
              <button
                type="button"
                className="link small"
                onClick={() => setAsked([...asked, name])}
                aria-label={t('Can it be done? {title}', { title })}
              >
                {t('can it be done?')}
              </button>
            )}
            {asked.includes(name) && <span className="small quiet">{can()}</span>}
          </li>
        );
      })}
    </ul>
  );
}

// The width of an element, px. It is updated when the element is resized.

export function useWidth(element: RefObject<HTMLElement | null>, usual: number): number {
  const [width, setWidth] = useState(usual);
  useLayoutEffect(() => {
    const box = element.current;
    if (box === null || typeof ResizeObserver === 'undefined') return;
    const measure = () => {
      if (box.clientWidth > 0) setWidth(box.clientWidth);
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    return () => watch.disconnect();
  }, [element]);
  return width;
}
