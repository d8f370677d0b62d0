// SPDX-License-Identifier: GPL-2.0-or-later
/** The knobs of a live run, what a change of them costs, and the buttons run, stop and again. */

import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { type Knobs, knobOf, needBoot, runLine, sameRun, withParam } from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useDenied } from '../store/hooks.tsx';
import { off } from '../ui/parts.tsx';
import { Stepper } from './knob-fields.tsx';
import { type ArmState, KnobPanel } from './knob-panel.tsx';

interface Props {
  readonly lesson: Lesson;
  readonly knobs: Knobs;
  /** What the stage shows; null before anything is there. */
  readonly shown: Knobs | null;
  /** How much a recording has, ns; see recordedNs(). */
  readonly recorded?: number | null;
  readonly live: boolean;
  readonly running: boolean;
  readonly armStates: readonly ArmState[];
  /** Empty when this viewer may run; else why not. */
  readonly blocked: string;
  readonly onKnobs: (knobs: Knobs) => void;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onAgain: () => void;
  /** Another way to a run, before the buttons. */
  readonly tool?: ReactNode;
}

export function RunControls(props: Props) {
  const { lesson, knobs, shown, live, onKnobs } = props;
  const blocked = useDenied('run') || props.blocked;
  const [open, setOpen] = useState(false);
  const panel = useId();
  const more = useRef<HTMLButtonElement>(null);
  useEscape(open, () => {
    setOpen(false);
    more.current?.focus();
  });
  const same = shown !== null && live && sameRun(shown, knobs);
  const boots = shown && live ? needBoot(lesson, shown, knobs) : [];
  const follow = useFollow({
    offered: live && props.armStates.some((arm) => arm.copied),
    wanted: blocked === '' && !same && boots.length === 0,
    knobs,
    onRun: props.onRun,
  });
  // The number of threads is always in sight; the others are one click away.
  const first = knobOf(lesson, 'threads') ?? '';
  const main = lesson.params[first];
  const line = runLine(lesson, shown, knobs, first, props.recorded);
  return (
    <section className="desk" aria-label={t('Knobs')} data-testid="knobs">
      <div className="desk-row">
        {main && (
          <Stepper
            name={first}
            param={main}
            value={knobs.params[first] ?? main.default}
            onChange={(v) => onKnobs(withParam(lesson, knobs, first, v))}
          />
        )}
        {follow.offered && (
          <label className="desk-follow small">
            <input
              type="checkbox"
              checked={follow.on}
              onChange={(e) => follow.set(e.target.checked)}
              {...off(blocked)}
              data-testid="follow-knobs"
            />
            {t('run as it is turned')}
          </label>
        )}
        <button
          ref={more}
          type="button"
          className="link desk-more"
          aria-expanded={open}
          aria-controls={panel}
          title={line}
          onClick={() => setOpen(!open)}
          data-testid="more-knobs"
        >
          {line}
        </button>
        <RunButtons {...{ ...props, blocked, same }} />
      </div>
      {blocked !== '' && (
        <p className="small quiet" data-testid="blocked">
          {blocked}
        </p>
      )}
      {boots.length > 0 && (
        <p className="small quiet" data-testid="needs-boot">
          {t('A new {list} needs new guests: run boots them again first.', {
            list: boots.join(t(' and a new ')),
          })}
        </p>
      )}
      {open && (
        <KnobPanel id={panel} {...{ lesson, knobs, onKnobs, first }} armStates={props.armStates} />
      )}
    </section>
  );
}

/** A knob that rests for so long is one that a run can begin with. */
const REST_MS = 250;

interface Follow {
  readonly offered: boolean;
  /** A run with these knobs can begin, and would show something else. */
  readonly wanted: boolean;
  readonly knobs: Knobs;
  readonly onRun: () => void;
}

/** Runs begin as knobs are turned, where lanes are copies of parked guests and the viewer asks for it. */
function useFollow({ offered, wanted, knobs, onRun }: Follow) {
  const [on, set] = useState(false);
  const latest = useRef({ wanted, onRun });
  latest.current = { wanted, onRun };
  const turned = JSON.stringify(knobs);
  const ran = useRef(turned);
  useEffect(() => {
    if (ran.current === turned) return undefined;
    ran.current = turned;
    if (!on || !offered) return undefined;
    const timer = setTimeout(() => latest.current.wanted && latest.current.onRun(), REST_MS);
    return () => clearTimeout(timer);
  }, [turned, on, offered]);
  return { offered, on, set };
}

/** Esc closes what is open, wherever the focus is; a dialog over it closes first. */
function useEscape(open: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!open) return undefined;
    const listen = (event: KeyboardEvent) => {
      const inDialog = event.target instanceof Element && event.target.closest('[role="dialog"]');
      if (event.key === 'Escape' && !inDialog) latest.current();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [open]);
}

interface ButtonsProps
  extends Pick<Props, 'live' | 'running' | 'onRun' | 'onStop' | 'onAgain' | 'tool'> {
  readonly blocked: string;
  /** Run would show what the stage shows already. */
  readonly same: boolean;
}

function RunButtons(props: ButtonsProps) {
  const { live, running, blocked, same } = props;
  return (
    <span className="desk-buttons">
      {props.tool}
      {running ? (
        <button
          type="button"
          className="button"
          onClick={props.onStop}
          data-testid="stop"
          {...off(blocked)}
        >
          {t('stop')}
        </button>
      ) : (
        live && (
          <button
            type="button"
            className="button"
            onClick={props.onAgain}
            data-testid="again"
            {...off(blocked)}
          >
            {t('again')}
          </button>
        )
      )}
      <button
        type="button"
        className="button"
        data-strong
        onClick={props.onRun}
        data-testid="run"
        {...off(blocked || (running && same && t('This run is going on.')))}
      >
        {live && !same ? t('run with these') : t('run live')}
      </button>
    </span>
  );
}
