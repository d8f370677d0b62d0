// SPDX-License-Identifier: GPL-2.0-or-later
/** All knobs of a live run but the one that is always in sight: arms, clock, workload and params. */

import { t } from '../base/lang/t.ts';
import {
  fixedBecause,
  type Knobs,
  withArm,
  withClock,
  withParam,
  withWorkload,
} from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { off } from '../ui/parts.tsx';
import { Knob } from './knob-fields.tsx';

export interface ArmState {
  readonly name: string;
  /** "built", "not built yet", "building 40 %", "booting", "running", "failed" */
  readonly words: string;
  /** Its lane is a copy of a parked guest, so another run of it is there at once. */
  readonly copied?: boolean;
}

interface Props {
  readonly id: string;
  readonly lesson: Lesson;
  readonly knobs: Knobs;
  /** The knob that stands elsewhere. */
  readonly first: string;
  readonly armStates: readonly ArmState[];
  readonly onKnobs: (knobs: Knobs) => void;
}

export function KnobPanel({ id: panel, ...props }: Props) {
  const { lesson, knobs, first, onKnobs } = props;
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
                {...off(knobs.arms.join() === arm.name && t('A run has one arm at least.'))}
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
          <span className="knob-title">{t('clock')}</span>
          <fieldset className="segments" aria-label={t('clock')}>
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
              ? t('guest time is the number of instructions; needs new guests')
              : t('guest time is the time on the wall; needs new guests')}
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
  );
}
