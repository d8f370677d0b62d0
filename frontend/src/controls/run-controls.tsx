// SPDX-License-Identifier: GPL-2.0-or-later
/** The knobs of a live run, the cost of changing them, and the buttons *run*, *stop* and *again*. */

import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { list } from '../derive/words.ts';
import {
  fixedBecause,
  type Knobs,
  needBoot,
  runLine,
  sameRun,
  withArm,
  withClock,
  withParam,
  withWorkload,
} from '../navigation/knobs.ts';
import { knobOf, type Lesson, type Param } from '../protocol/lesson.ts';
import { useDenied } from '../store/hooks.tsx';
import { off } from '../ui/parts.tsx';

// A knob, displayed as choices, a checkbox, a number field or a stepper.

interface KnobProps {
  readonly name: string;
  readonly param: Param;
  readonly value: number;
  readonly fixed?: string | null;
  /** The only values that the knob can have, because only these are recorded; null if a run can have any value. */
  readonly values?: readonly number[] | null;
  readonly onChange: (value: number) => void;
}

function onlyRecorded(): string {
  return t('No other value is recorded for these knobs.');
}

export function Knob({
  name,
  param,
  value,
  fixed: given = null,
  values = null,
  onChange,
}: KnobProps) {
  const id = useId();
  const fixed = given ?? (values !== null && values.length < 2 ? onlyRecorded() : null);
  const choices = param.choices.length > 0 ? param.choices : fixed === null ? (values ?? []) : [];
  const help = [
    param.help,
    param.applies === 'boot' && !fixed ? t('requires a reboot of the guests') : '',
  ]
    .filter(Boolean)
    .join('; ');
  return (
    <div className="knob" data-testid={`knob-${name}`}>
      {choices.length > 0 ? (
        <>
          <span className="knob-title">{param.title}</span>
          <fieldset className="segments" aria-label={param.title}>
            {choices.map((choice) => (
              <button
                key={choice}
                type="button"
                className="button"
                aria-pressed={choice === value}
                onClick={() => onChange(choice)}
                {...off(values !== null && !values.includes(choice) && onlyRecorded())}
              >
                {choiceWords(param, choice)}
              </button>
            ))}
          </fieldset>
        </>
      ) : (
        <>
          <label className="knob-title" htmlFor={id}>
            {param.title}
          </label>
          {param.type === 'bool' ? (
            <input
              id={id}
              type="checkbox"
              checked={value !== 0}
              onChange={(event) => onChange(event.target.checked ? 1 : 0)}
              {...off(fixed)}
            />
          ) : (
            <NumberField id={id} param={param} value={value} fixed={fixed} onChange={onChange} />
          )}
        </>
      )}
      <small>{fixed ?? help}</small>
    </div>
  );
}

function choiceWords(param: Param, value: number): ReactNode {
  const label = param.labels[param.choices.indexOf(value)];
  if (label !== undefined) return label;
  if (param.type !== 'bool') return value;
  return value === 0 ? t('no') : t('yes');
}

function NumberField(props: {
  readonly id: string;
  readonly param: Param;
  readonly value: number;
  readonly fixed: string | null;
  readonly onChange: (value: number) => void;
}) {
  const { id, param, value, fixed, onChange } = props;
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
        {...off(fixed)}
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
          {t('{min} to {max}', { min: param.min, max: param.max })}
        </span>
      )}
    </span>
  );
}

/** Maximum number of values for which a knob has a slider. With more values, a slider is not precise enough. */
const MOST_VALUES = 64;

/** A stepper for a small number, with minus button, slider, plus button, and the value. */
function Stepper({ name, param, value, values: given = null, onChange }: KnobProps) {
  const { min, max } = param;
  const small = min != null && max != null && max - min <= MOST_VALUES;
  const all = small ? Array.from({ length: max - min + 1 }, (_, i) => min + i) : null;
  const values = given ?? all;
  const at = values?.indexOf(value) ?? -1;
  const low = values === null ? min : values[0];
  const high = values === null ? max : values.at(-1);
  const next = (by: 1 | -1) => values?.[at + by] ?? value + by;
  const end = (limit: number, words: string) =>
    given === null ? words : t('{limit} is the last recorded value.', { limit });
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
        onClick={() => onChange(next(-1))}
        aria-label={t('fewer {title}', { title: param.title })}
        {...off(low != null && value <= low && end(low, t('{min} is the minimum.', { min: low })))}
      >
        −
      </button>
      {values !== null && values.length > 1 && at >= 0 && (
        <input
          type="range"
          min={given === null ? (low ?? 0) : 0}
          max={given === null ? (high ?? 0) : values.length - 1}
          value={given === null ? value : at}
          aria-label={param.title}
          aria-valuetext={String(value)}
          onChange={(e) => {
            const moved = Number(e.target.value);
            onChange(given === null ? moved : (given[moved] ?? value));
          }}
          data-testid={`slider-${name}`}
        />
      )}
      <output className="number" data-testid={`value-${name}`}>
        {value} {value === 1 ? param.title.replace(/s$/, '') : param.title}
      </output>
      <button
        type="button"
        className="button"
        data-icon
        onClick={() => onChange(next(1))}
        aria-label={t('more {title}', { title: param.title })}
        {...off(
          high != null && value >= high && end(high, t('{max} is the maximum.', { max: high })),
        )}
      >
        +
      </button>
    </fieldset>
  );
}

// The knobs of a live run: arms, clock, workload and parameters. The knob that is always visible is omitted.

export interface ArmState {
  readonly name: string;
  /** The arm's state in words: "built", "not built yet", "building 40 %", "booting", "running" or "failed". */
  readonly words: string;
  /** Whether the arm's lane is a copy of a template, so that another run can start immediately. */
  readonly copied?: boolean;
}

interface KnobPanelProps {
  readonly id: string;
  readonly lesson: Lesson;
  readonly knobs: Knobs;
  /** Name of the knob that the page shows in another place. */
  readonly first: string;
  readonly armStates: readonly ArmState[];
  readonly clockTitle: ReactNode;
  readonly values: ValuesOf;
  readonly onKnobs: (knobs: Knobs) => void;
}

/** The recorded values of a knob, where no guest can run; null where guests can run any value. */
type ValuesOf = ((name: string) => readonly number[]) | null;

function KnobPanel({ id: panel, ...props }: KnobPanelProps) {
  const { lesson, knobs, first, values, onKnobs } = props;
  const elsewhere = values !== null && onlyRecorded();
  const rest = Object.entries(lesson.params).filter(([name]) => name !== first);
  return (
    <div className="desk-panel card" id={panel} data-testid="knob-panel">
      <fieldset>
        <legend>{t('kernels')}</legend>
        <div className="desk-arms">
          {lesson.arms.map((arm) => (
            <label key={arm.name}>
              <input
                type="checkbox"
                checked={knobs.arms.includes(arm.name)}
                onChange={(e) => onKnobs(withArm(lesson, knobs, arm.name, e.target.checked))}
                {...off(knobs.arms.join() === arm.name && t('A run needs at least one arm.'))}
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
          <span className="knob-title">{props.clockTitle}</span>
          <fieldset className="segments" aria-label={t('clock')}>
            {lesson.clocks.map((clock) => (
              <button
                key={clock}
                type="button"
                className="button"
                aria-pressed={knobs.clock === clock}
                onClick={() => onKnobs(withClock(lesson, knobs, clock))}
                {...off(clock !== knobs.clock && elsewhere)}
              >
                {clock}
              </button>
            ))}
          </fieldset>
          <small>
            {knobs.clock === 'count'
              ? t(
                  'guest time is the number of executed instructions; requires a reboot of the guests',
                )
              : t('guest time is real time; requires a reboot of the guests')}
          </small>
        </div>
        <div className="knob">
          <label className="knob-title" htmlFor={`${panel}-w`}>
            {t('workload')}
          </label>
          <select
            id={`${panel}-w`}
            value={knobs.workload}
            onChange={(e) => onKnobs(withWorkload(lesson, knobs, e.target.value))}
            {...off(elsewhere)}
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
            values={param.applies === 'model' ? null : (values?.(name) ?? null)}
            onChange={(v) => onKnobs(withParam(lesson, knobs, name, v))}
          />
        ))}
      </div>
    </div>
  );
}

interface RunControlsProps {
  readonly lesson: Lesson;
  readonly knobs: Knobs;
  /** Knob values of the run on the stage; null without a run. */
  readonly shown: Knobs | null;
  /** Guest time that the recording covers, ns (see recordedNs). */
  readonly recorded?: number | null;
  readonly live: boolean;
  readonly running: boolean;
  readonly armStates: readonly ArmState[];
  /** The reason that this viewer cannot start a run; empty if they can. */
  readonly blocked: string;
  readonly values?: ValuesOf;
  readonly onKnobs: (knobs: Knobs) => void;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onAgain: () => void;
  /** Title of the clock's knob; by default plain text. */
  readonly clockTitle?: ReactNode;
  /** Another way to start a run; it is shown before the buttons. */
  readonly tool?: ReactNode;
}

export function RunControls(props: RunControlsProps) {
  const { lesson, knobs, shown, live, values = null, onKnobs } = props;
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
  // The number of threads is always visible, while the other knobs appear after a click.
  const first = knobOf(lesson, 'threads') ?? '';
  const main = lesson.params[first];
  // Without guests there is no next run, from which the run on the stage could differ.
  const next = values === null || shown === null ? knobs : { ...knobs, ...runOnly(shown, knobs) };
  const line = runLine(lesson, shown, next, first, props.recorded);
  return (
    <section className="desk" aria-label={t('Knobs')} data-testid="knobs">
      <div className="desk-row">
        {main && (
          <Stepper
            name={first}
            param={main}
            value={knobs.params[first] ?? main.default}
            values={values?.(first) ?? null}
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
            {t('run with these knobs')}
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
          {t('Changing the {list} requires a reboot, so “run” boots the guests again first.', {
            list: list(boots),
          })}
        </p>
      )}
      {open && (
        <KnobPanel
          id={panel}
          {...{ lesson, knobs, values, onKnobs, first }}
          armStates={props.armStates}
          clockTitle={props.clockTitle ?? t('clock')}
        />
      )}
    </section>
  );
}

/** The knobs of a run, and the current values of the models' knobs. */
function runOnly({ params, clock }: Knobs, now: Knobs): Pick<Knobs, 'params' | 'clock'> {
  return { params: { ...now.params, ...params }, clock };
}

/** Delay between the last change of a knob and the automatic start of a run, ms. */
const REST_MS = 250;

interface Follow {
  readonly offered: boolean;
  /** Whether a run with these knobs can start and would differ from the run on the stage. */
  readonly wanted: boolean;
  readonly knobs: Knobs;
  readonly onRun: () => void;
}

/**
 * Starts a run whenever knobs change. Automatic runs require that lanes are copies of templates, and that the viewer
 * has switched automatic runs on.
 */
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

/**
 * Escape closes the knobs, wherever the focus is. If a dialog is open in front of them, Escape only closes the dialog.
 */
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
  extends Pick<RunControlsProps, 'live' | 'running' | 'onRun' | 'onStop' | 'onAgain' | 'tool'> {
  readonly blocked: string;
  /** Whether the button *run* would repeat the run on the stage. */
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
