// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer may do to the live run while it goes on: each act a button, with its number where it takes one. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Act, Lesson } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { useDenied } from '../store/hooks.tsx';
import { off } from '../ui/parts.tsx';

interface Props {
  readonly lesson: Lesson;
  readonly run: RunMessage | null;
  readonly onAct: (name: string, value: number) => void;
}

/** Acts of the run's workload; none for a recording, which has happened. */
export function ActBar({ lesson, run, onAct }: Props) {
  const denied = useDenied('run');
  const acts = Object.entries(lesson.acts).filter(([, act]) => act.workload === run?.workload);
  if (run === null || run.source !== 'live' || acts.length === 0 || denied !== '') return null;
  const running = run.phase === 'running';
  return (
    <fieldset className="acts" aria-label={t('Do to the running guests')} data-testid="acts">
      {acts.map(([name, act]) => (
        <ActButton
          key={name}
          name={name}
          act={act}
          most={act.max_param ? (run.params[act.max_param] ?? 0) : (act.max ?? null)}
          running={running}
          onAct={onAct}
        />
      ))}
      <span className="small quiet" role="status">
        {running ? t('every lane gets it at once') : t('possible while the run goes on')}
      </span>
    </fieldset>
  );
}

interface ButtonProps {
  readonly name: string;
  readonly act: Act;
  readonly most: number | null;
  readonly running: boolean;
  readonly onAct: (name: string, value: number) => void;
}

function ActButton({ name, act, most, running, onAct }: ButtonProps) {
  const [value, setValue] = useState(act.min);
  return (
    <span className="act" title={act.help}>
      <button
        type="button"
        className="button"
        onClick={() => onAct(name, value)}
        data-testid={`act-${name}`}
        {...off(!running && t('The run has ended.'))}
      >
        {act.title}
      </button>
      {most !== null && (
        <input
          type="number"
          aria-label={t('{title}: number', { title: act.title })}
          min={act.min}
          max={most}
          value={value}
          onChange={(event) => {
            const wanted = Math.round(Number(event.target.value));
            if (Number.isFinite(wanted)) setValue(Math.max(act.min, Math.min(most, wanted)));
          }}
          data-testid={`act-${name}-value`}
        />
      )}
    </span>
  );
}
