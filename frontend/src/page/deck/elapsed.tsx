// SPDX-License-Identifier: GPL-2.0-or-later
/** The time of a talk or a class against its plan. */

import { useEffect, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import { off } from '../../ui/parts.tsx';
import { type Planned, paceWords } from './plan.ts';
import { clockWords } from './say.ts';

interface ElapsedProps {
  readonly since: number | null;
  /** When the step is due; null: the lesson has no plan. */
  readonly planned: Planned | null;
  readonly onRestart: () => void;
}

export function Elapsed({ since, planned, onRestart }: ElapsedProps) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <b className="number notes-clock" data-testid="notes-clock" data-volatile>
        {since === null ? '–' : clockWords(now - since)}
      </b>
      {planned && (
        <span className="notes-plan" data-testid="notes-plan" data-volatile>
          {rich('this step {from} to {to} of {total} min{more}', {
            from: planned.from,
            to: planned.to,
            total: planned.total,
            more: since !== null && (
              <b data-testid="notes-pace">{paceWords(now - since, planned)}</b>
            ),
          })}
        </span>
      )}
      <button
        type="button"
        className="link"
        onClick={onRestart}
        {...off(since === null && t('No slides of this lesson are open.'))}
      >
        {t('from 0:00')}
      </button>
    </>
  );
}
