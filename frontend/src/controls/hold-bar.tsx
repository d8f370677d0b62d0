// SPDX-License-Identifier: GPL-2.0-or-later
/** Live slow motion: whoever controls the run may hold its guests. How far they ran on is said. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { ControlMessage, HeldMessage, RunMessage } from '../protocol/messages.ts';

interface Props {
  readonly lesson: Lesson;
  readonly run: RunMessage | null;
  readonly control: ControlMessage | null;
  readonly holds: readonly HeldMessage[];
  readonly onHold: (on: boolean, after: number) => void;
}

const most = 1_000_000;

/** "asked at access 1,204, stood at 1,391: 187 more". A machine does not stop where it is asked to. */
export function holdWords({ phase, after, asked, stood, message }: HeldMessage): string {
  if (phase === 'going') return message;
  if (asked === null) return t('is asked to stand');
  const words = t('asked at access {asked}{after}', {
    asked: formatCount(asked),
    after: after > 0 ? t(' for {after} more', { after: formatCount(after) }) : '',
  });
  if (stood === null) return words;
  const beyond = formatCount(stood - asked - after);
  return t('{words}, stood at {stood}: {beyond} {after}', {
    words,
    stood: formatCount(stood),
    beyond,
    after: after > 0 ? t('beyond') : t('more'),
  });
}

/** Whoever has control acts, and anybody whose command would get it. */
export function mayAct({ by, may_take }: ControlMessage): boolean {
  return by === 'you' || (by === 'nobody' && may_take);
}

/** Only of a live run that the microscope watches; the buttons only for the one who controls it. */
export function HoldBar({ lesson, run, control, holds, onHold }: Props) {
  const [after, setAfter] = useState(0);
  if (run?.source !== 'live' || !lesson.microscope?.workloads.includes(run.workload)) return null;
  if (lesson.microscope.probe === null) return null;
  const mine = control?.run_id === run.run_id && mayAct(control);
  const own = holds.filter((hold) => hold.run_id === run.run_id);
  const held = own.some((hold) => hold.phase !== 'going');
  const said = own.filter((hold) => holdWords(hold) !== '');
  if (run.phase !== 'running' || !(mine || said.length > 0)) return null;
  const titleOf = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  return (
    <fieldset className="acts" aria-label={t('Hold the running guests')} data-testid="hold-bar">
      {mine && (
        <button
          type="button"
          className="button"
          onClick={() => onHold(!held, held ? 0 : after)}
          title={
            held
              ? t('their clocks go on from where they stand')
              : t('stops the machines, and counts how far they ran on')
          }
          data-testid="hold"
        >
          {held ? t('let them go') : t('hold the guests')}
        </button>
      )}
      {mine && !held && (
        <label className="act small quiet">
          {t('after')}
          <input
            type="number"
            min={0}
            max={most}
            value={after}
            onChange={(event) => {
              const wanted = Math.round(Number(event.target.value));
              if (Number.isFinite(wanted)) setAfter(Math.max(0, Math.min(most, wanted)));
            }}
            data-testid="hold-after"
          />
          {t('more accesses to {object}', { object: lesson.microscope.object })}
        </label>
      )}
      <span className="small" role="status" data-testid="held">
        {said.map((hold) => (
          <span key={hold.arm} className="held number" data-testid={`held-${hold.arm}`}>
            <b>{titleOf(hold.arm)}</b> {holdWords(hold)}
          </span>
        ))}
      </span>
    </fieldset>
  );
}
