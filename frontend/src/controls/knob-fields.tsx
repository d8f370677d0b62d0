// SPDX-License-Identifier: GPL-2.0-or-later
/** One knob: choices, yes or no, a number in a field, or a number turned by hand. */

import { useId, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Param } from '../protocol/lesson.ts';
import { off } from '../ui/parts.tsx';

interface KnobProps {
  readonly name: string;
  readonly param: Param;
  readonly value: number;
  readonly fixed?: string | null;
  readonly onChange: (value: number) => void;
}

export function Knob({ name, param, value, fixed = null, onChange }: KnobProps) {
  const id = useId();
  const help = [param.help, param.applies === 'boot' && !fixed ? t('needs new guests') : '']
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

/** A slider of this width has room for so many values. */
const MOST_VALUES = 64;

/** A small number turned by hand: minus, a slider, plus, and the value. */
export function Stepper({ name, param, value, onChange }: KnobProps) {
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
        onClick={() => onChange(value - 1)}
        aria-label={t('fewer {title}', { title: param.title })}
        {...off(
          param.min != null && value <= param.min && t('{min} is the least.', { min: param.min }),
        )}
      >
        −
      </button>
      {param.min != null && param.max != null && param.max - param.min <= MOST_VALUES && (
        <input
          type="range"
          min={param.min}
          max={param.max}
          value={value}
          aria-label={param.title}
          onChange={(e) => onChange(Number(e.target.value))}
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
        onClick={() => onChange(value + 1)}
        aria-label={t('more {title}', { title: param.title })}
        {...off(
          param.max != null && value >= param.max && t('{max} is the most.', { max: param.max }),
        )}
      >
        +
      </button>
    </fieldset>
  );
}
