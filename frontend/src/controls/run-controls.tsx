// SPDX-License-Identifier: GPL-2.0-or-later
/** The knobs of a live run, what a change of them costs, and the buttons run, stop and again. */

import { useId, useState } from 'react';
import { plural } from '../base/units.ts';
import {
  fixedBecause,
  type Knobs,
  knobOf,
  needBoot,
  paramWords,
  sameRun,
  withArm,
  withClock,
  withParam,
  withWorkload,
} from '../navigation/knobs.ts';
import type { Lesson, Param } from '../protocol/lesson.ts';
import { useDenied } from '../store/hooks.tsx';

export interface ArmState {
  readonly name: string;
  /** "built", "not built yet", "building 40 %", "booting", "running", "failed" */
  readonly words: string;
}

interface Props {
  readonly lesson: Lesson;
  readonly knobs: Knobs;
  /** What the stage shows; null before anything is there. */
  readonly shown: Knobs | null;
  readonly live: boolean;
  readonly running: boolean;
  readonly armStates: readonly ArmState[];
  /** Empty when this viewer may run; else why not. */
  readonly blocked: string;
  readonly onKnobs: (knobs: Knobs) => void;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onAgain: () => void;
}

export function KnobDesk(props: Props) {
  const { lesson, knobs, shown, live, running, onKnobs } = props;
  const blocked = useDenied('run') || props.blocked;
  const [open, setOpen] = useState(false);
  const panel = useId();
  const same = shown !== null && live && sameRun(shown, knobs);
  const boots = shown && live ? needBoot(lesson, shown, knobs) : [];
  // The number of threads is always in sight; the others are one click away.
  const first = knobOf(lesson, 'threads') ?? '';
  const main = lesson.params[first];
  const rest = Object.entries(lesson.params).filter(([name]) => name !== first);
  return (
    <section className="desk" aria-label="Knobs" data-testid="knobs">
      <div className="desk-row">
        {main && (
          <Stepper
            name={first}
            param={main}
            value={knobs.params[first] ?? main.default}
            onChange={(v) => onKnobs(withParam(lesson, knobs, first, v))}
          />
        )}
        <button
          type="button"
          className="link desk-more"
          aria-expanded={open}
          aria-controls={panel}
          onClick={() => setOpen(!open)}
          data-testid="more-knobs"
        >
          {summary(lesson, knobs, first)}
        </button>
        <span className="desk-buttons">
          {running ? (
            <button
              type="button"
              className="button"
              onClick={props.onStop}
              disabled={blocked !== ''}
              data-testid="stop"
            >
              stop
            </button>
          ) : (
            live && (
              <button
                type="button"
                className="button"
                onClick={props.onAgain}
                disabled={blocked !== ''}
                data-testid="again"
              >
                again
              </button>
            )
          )}
          <button
            type="button"
            className="button"
            data-strong
            onClick={props.onRun}
            disabled={blocked !== '' || (running && same)}
            title={blocked || undefined}
            data-testid="run"
          >
            {live && !same ? 'run with these' : 'run live'}
          </button>
        </span>
      </div>
      {blocked !== '' && (
        <p className="small quiet" data-testid="blocked">
          {blocked}
        </p>
      )}
      {boots.length > 0 && (
        <p className="small quiet" data-testid="needs-boot">
          A new {boots.join(' and a new ')} needs new guests: run boots them again first.
        </p>
      )}
      {open && (
        <div className="desk-panel card" id={panel} data-testid="knob-panel">
          <fieldset>
            <legend>arms</legend>
            <div className="desk-arms">
              {lesson.arms.map((arm) => (
                <label key={arm.name}>
                  <input
                    type="checkbox"
                    checked={knobs.arms.includes(arm.name)}
                    disabled={knobs.arms.length === 1 && knobs.arms[0] === arm.name}
                    onChange={(e) => onKnobs(withArm(lesson, knobs, arm.name, e.target.checked))}
                  />
                  <span>
                    {arm.title}
                    <small data-volatile>
                      {props.armStates.find((s) => s.name === arm.name)?.words ?? ''}
                    </small>
                  </span>
                </label>
              ))}
            </div>
          </fieldset>
          <div className="desk-grid">
            <div className="knob">
              <span className="knob-title">clock</span>
              <fieldset className="segments" aria-label="clock">
                {lesson.clocks.map((clock) => (
                  <button
                    key={clock}
                    type="button"
                    className="button"
                    aria-pressed={knobs.clock === clock}
                    onClick={() => onKnobs(withClock(lesson, knobs, clock))}
                  >
                    {clock}
                  </button>
                ))}
              </fieldset>
              <small>
                {knobs.clock === 'count'
                  ? 'guest time is the number of instructions; needs new guests'
                  : 'guest time is the time on the wall; needs new guests'}
              </small>
            </div>
            <div className="knob">
              <label className="knob-title" htmlFor={`${panel}-w`}>
                workload
              </label>
              <select
                id={`${panel}-w`}
                value={knobs.workload}
                onChange={(e) => onKnobs(withWorkload(lesson, knobs, e.target.value))}
              >
                {Object.entries(lesson.workloads).map(([name, w]) => (
                  <option key={name} value={name}>
                    {w.title}
                  </option>
                ))}
              </select>
              <small>{lesson.workloads[knobs.workload]?.summary}</small>
            </div>
            {rest.map(([name, param]) => (
              <Knob
                key={name}
                name={name}
                param={param}
                value={knobs.params[name] ?? param.default}
                fixed={fixedBecause(lesson, knobs, name)}
                onChange={(v) => onKnobs(withParam(lesson, knobs, name, v))}
              />
            ))}
          </div>
        </div>
      )}
    </section>
  );
}

/** "3 arms, 2 vCPUs, wall clock, 3 s" */
/** What is said of the knobs that are not in sight. */
function summary(lesson: Lesson, knobs: Knobs, shown: string): string {
  const { [shown]: _inSight, ...others } = knobs.params;
  const words = [plural(knobs.arms.length, 'arm'), ...paramWords(lesson, others)];
  words.push(`${knobs.clock} clock`);
  return words.join(', ');
}

interface KnobProps {
  readonly name: string;
  readonly param: Param;
  readonly value: number;
  readonly fixed?: string | null;
  readonly onChange: (value: number) => void;
}

function Knob({ name, param, value, fixed = null, onChange }: KnobProps) {
  const id = useId();
  const help = [param.help, param.applies === 'boot' && !fixed ? 'needs new guests' : '']
    .filter(Boolean)
    .join('; ');
  return (
    <div className="knob" data-testid={`knob-${name}`}>
      {param.choices.length > 0 ? (
        <>
          <span className="knob-title">{param.title}</span>
          <fieldset className="segments" aria-label={param.title}>
            {param.choices.map((choice, i) => (
              <button
                key={choice}
                type="button"
                className="button"
                aria-pressed={choice === value}
                onClick={() => onChange(choice)}
              >
                {param.labels[i] ?? choice}
              </button>
            ))}
          </fieldset>
        </>
      ) : (
        <>
          <label className="knob-title" htmlFor={id}>
            {param.title}
          </label>
          <NumberField
            id={id}
            param={param}
            value={value}
            disabled={fixed !== null}
            onChange={onChange}
          />
        </>
      )}
      <small>{fixed ?? help}</small>
    </div>
  );
}

function NumberField(props: {
  readonly id: string;
  readonly param: Param;
  readonly value: number;
  readonly disabled: boolean;
  readonly onChange: (value: number) => void;
}) {
  const { id, param, value, disabled, onChange } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const wanted = draft === null ? value : Number(draft);
  const out =
    draft !== null &&
    (draft.trim() === '' ||
      !Number.isInteger(wanted) ||
      (param.min != null && wanted < param.min) ||
      (param.max != null && wanted > param.max));
  return (
    <span className="number-field">
      <input
        id={id}
        type="number"
        inputMode="numeric"
        min={param.min ?? undefined}
        max={param.max ?? undefined}
        disabled={disabled}
        value={draft ?? value}
        aria-invalid={out}
        onChange={(e) => {
          setDraft(e.target.value);
          const next = Number(e.target.value);
          const fits =
            e.target.value.trim() !== '' &&
            Number.isInteger(next) &&
            (param.min == null || next >= param.min) &&
            (param.max == null || next <= param.max);
          if (fits) onChange(next);
        }}
        onBlur={() => {
          if (out && draft !== null) onChange(wanted);
          setDraft(null);
        }}
      />
      {param.unit && <span className="quiet">{param.unit}</span>}
      {out && (
        <span role="alert" className="field-error">
          {param.min} to {param.max}
        </span>
      )}
    </span>
  );
}

/** A small number turned by hand: minus, the value, plus. */
function Stepper({ name, param, value, onChange }: KnobProps) {
  return (
    <fieldset
      className="stepper"
      aria-label={param.title}
      title={param.help}
      data-testid={`knob-${name}`}
    >
      <button
        type="button"
        className="button"
        data-icon
        disabled={param.min != null && value <= param.min}
        onClick={() => onChange(value - 1)}
        aria-label={`fewer ${param.title}`}
      >
        −
      </button>
      <output className="number" data-testid={`value-${name}`}>
        {value} {value === 1 ? param.title.replace(/s$/, '') : param.title}
      </output>
      <button
        type="button"
        className="button"
        data-icon
        disabled={param.max != null && value >= param.max}
        onClick={() => onChange(value + 1)}
        aria-label={`more ${param.title}`}
      >
        +
      </button>
    </fieldset>
  );
}
