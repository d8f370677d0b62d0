// SPDX-License-Identifier: GPL-2.0-or-later
/** The elapsed time of a talk or class, compared with the lesson's plan. */

import { useEffect, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { Scene } from '../../protocol/lesson.ts';
import { off } from '../../ui/parts.tsx';

// The planned schedule of a class: when each step begins and ends, and how far the speaker is ahead or behind. Pure.

const minuteMs = 60_000;

/** Begin and end of a step, in minutes from the start of the talk. */
interface Planned {
  readonly from: number;
  readonly to: number;
  /** Planned duration of the whole class, min. */
  readonly total: number;
}

/** Planned time of a step; null if the lesson has no plan. */
export function plannedOf(
  scenes: readonly Pick<Scene, 'id' | 'minutes'>[],
  step: string,
): Planned | null {
  const sum = (of: typeof scenes) => of.reduce((all, { minutes }) => all + minutes, 0);
  const at = scenes.findIndex(({ id }) => id === step);
  const total = sum(scenes);
  if (at < 0 || total === 0) return null;
  const from = sum(scenes.slice(0, at));
  return { from, to: from + (scenes[at]?.minutes ?? 0), total };
}

/** The speaker's progress compared with the step's planned time: "on time", "2 min behind" or "3 min ahead". */
export function paceWords(ms: number, { from, to }: Planned): string {
  const now = ms / minuteMs;
  if (now > to) return t('{now} min behind', { now: Math.ceil(now - to) });
  return now < from ? t('{from} min ahead', { from: Math.ceil(from - now) }) : t('on time');
}

// Elapsed time of a talk or class, compared with its plan.

/** "4:07", "1:02:30" */
export function clockWords(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [h, m] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

interface ElapsedProps {
  readonly since: number | null;
  /** Planned time of the step; null if the lesson has no plan. */
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
