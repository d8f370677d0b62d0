// SPDX-License-Identifier: GPL-2.0-or-later
/** Actions on a running live run. Each action has a button, and a number field if the action needs a number. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import type { Act, Lesson } from '../protocol/lesson.ts';
import type { ControlMessage, HeldMessage, RunMessage } from '../protocol/messages.ts';
import { useDenied } from '../store/hooks.tsx';
import { off } from '../ui/parts.tsx';

interface ActBarProps {
  readonly lesson: Lesson;
  readonly run: RunMessage | null;
  readonly onAct: (name: string, value: number) => void;
}

/** The actions that the run's workload supports. A recording has none. */
export function ActBar({ lesson, run, onAct }: ActBarProps) {
  const denied = useDenied('run');
  const acts = Object.entries(lesson.acts).filter(([, act]) => act.workload === run?.workload);
  if (run === null || run.source !== 'live' || acts.length === 0 || denied !== '') return null;
  const running = run.phase === 'running';
  return (
    <fieldset className="acts" aria-label={t('Act on the running guests')} data-testid="acts">
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
        {running ? t('sent to all lanes at the same time') : t('only available during a live run')}
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

// Slow motion of a live run. The visitor in control can stop the guests. A guest does not stop immediately, so the bar
// shows how far each guest ran after the request.

interface HoldBarProps {
  readonly lesson: Lesson;
  readonly run: RunMessage | null;
  readonly control: ControlMessage | null;
  readonly holds: readonly HeldMessage[];
  readonly onHold: (on: boolean, after: number) => void;
}

const most = 1_000_000;

/**
 * Describe how far a guest ran after the request to stop: "requested at access 1,204, stopped at 1,391: 187 more". A
 * guest does not stop immediately.
 */
export function holdWords({ phase, after, asked, stood, message }: HeldMessage): string {
  if (phase === 'going') return message;
  if (asked === null) return t('is being held');
  const words = t('requested at access {asked}{after}', {
    asked: formatCount(asked),
    after: after > 0 ? t(' for {after} more', { after: formatCount(after) }) : '',
  });
  if (stood === null) return words;
  const beyond = formatCount(stood - asked - after);
  return t('{words}, stopped at {stood}: {beyond} {after}', {
    words,
    stood: formatCount(stood),
    beyond,
    after: after > 0 ? t('beyond') : t('more'),
  });
}

/** Whether a visitor has control, or would get control with their next command. */
export function mayAct({ by, may_take }: ControlMessage): boolean {
  return by === 'you' || (by === 'nobody' && may_take);
}

/** The bar appears only for a live run under the microscope. Only the visitor in control sees its buttons. */
export function HoldBar({ lesson, run, control, holds, onHold }: HoldBarProps) {
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
              ? t('the guests’ clocks continue from where they stopped')
              : t('stops the guests, and shows how far each guest ran before it stopped')
          }
          data-testid="hold"
        >
          {held ? t('resume the guests') : t('hold the guests')}
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
