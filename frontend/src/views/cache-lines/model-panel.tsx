// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts, beside what the mail measured; its numbers with their sources, and what hangs on each. */

import { useState } from 'react';
import { formatFigure } from '../../base/units.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { PanelProps } from '../contract.ts';
import type { Prediction } from './model/prediction.ts';
import type { Sensitivity } from './model/sensitivity.ts';
import { leftOut, mailRates, owningLoad, statedNumbers } from './model/stated.ts';
import { ModelChart } from './model-chart.tsx';
import { NativeNote } from './model-native.tsx';
import { ProfileChart } from './model-profile.tsx';
import { CurveTable, SensitivityTable } from './model-tables.tsx';
import { noRate } from './refusal.ts';
import { settingsOf } from './settings.ts';
import { usePrediction } from './use-prediction.ts';

/** Points of a curve for one lane. */
const curvePoints = 11;

export function ModelPanel({ runIndex, lesson, theme }: PanelProps) {
  const knob = settingsOf(runIndex.params, lesson).owning;
  const [chosen, setChosen] = useState<boolean | null>(null);
  const owning = chosen ?? knob;
  const { settings, prediction, complaint } = usePrediction(runIndex, lesson, owning);
  const title = (arm: string) => lesson.arms.find((one) => one.name === arm)?.title ?? arm;
  const { cpus } = settingsOf(runIndex.params, lesson);
  if (complaint !== '') return <p className="small">The model gave up: {complaint}</p>;
  const refused = runIndex.lanes.map((lane) => noRate(lane, lesson)).find((why) => why !== null);
  if (refused) {
    return (
      <p className="small quiet" data-testid="no-rate">
        {refused}
      </p>
    );
  }
  if (prediction === null || (prediction.curves[0]?.points.length ?? 0) < 2)
    return (
      <p className="small quiet" role="status">
        {runIndex.lanes.every((lane) => lane.ended)
          ? 'The model is at work…'
          : 'The model waits for the end of the run.'}
      </p>
    );
  const found = prediction.sensitivity;
  return (
    <div data-testid="model" data-done={prediction.done ? '' : undefined}>
      <ModelChart
        {...{ prediction, theme, title }}
        at={cpus}
        many={lesson.operation.plural}
        native={lesson.native}
      />
      <p className="small" aria-live="polite">
        {found === null ? progressWords(prediction) : ratioWords(found, lesson)}
      </p>
      <p className="small quiet">
        {settings.protocol}; bands: lowest and highest of three seeds. Crosses: what the mail
        measured, on {mailRates.cpus} CPUs. No number here was fitted to them.
      </p>
      <NativeNote {...{ lesson, title }} />
      <label className="small">
        <input type="checkbox" checked={owning} onChange={(e) => setChosen(e.target.checked)} /> a
        load that leads to a compare-and-swap asks to own the line at once
      </label>
      <ProfileChart profiles={prediction.profile} {...{ theme, title }} />
      {found && <SensitivityTable found={found} />}
      <CurveTable {...{ prediction, title, lesson }} />
      <Numbers lesson={lesson} runIndex={runIndex} />
      <details className="small">
        <summary>what the model leaves out</summary>
        <ul>
          {leftOut.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </details>
    </div>
  );
}

function progressWords({ curves }: Prediction): string {
  const n = Math.max(0, ...curves.map(({ points }) => points.length));
  return `The model is at work: ${n} of ${curvePoints} points…`;
}

function ratioWords(found: Sensitivity, { operation }: Lesson): string {
  const mail = mailRates.movedPerS / mailRates.stockPerS;
  return `With ${found.cpus} CPUs the model gives ${formatFigure(found.owning.stated.ratio)} times as many ${operation.plural} if loads that lead to a compare-and-swap own the line, and ${formatFigure(found.reading.stated.ratio)} if they read it; the mail measured ${formatFigure(mail)}.`;
}

const byKnob: Readonly<Record<string, 'hitNs' | 'transferNs' | 'upgradeNs' | 'ownNs'>> = {
  hit_ns: 'hitNs',
  transfer_ns: 'transferNs',
  upgrade_ns: 'upgradeNs',
  own_ns: 'ownNs',
};

/** Each number of the model, where it comes from, and whether the viewer has changed it. */
function Numbers({ lesson, runIndex }: Pick<PanelProps, 'lesson' | 'runIndex'>) {
  const { latencies } = settingsOf(runIndex.params, lesson);
  return (
    <details className="small" data-testid="stated">
      <summary>its numbers, and their sources</summary>
      <dl>
        {Object.entries(statedNumbers).map(([name, { value, title, says, source, url }]) => {
          const key = byKnob[name];
          const now = key === undefined ? value : latencies[key];
          const unit = key === undefined ? '' : ' ns';
          const changed = now === value ? '' : `, now ${formatFigure(now)}${unit}`;
          return (
            <div key={name}>
              <dt>
                {title}: <b>{`${formatFigure(value)}${unit}${changed}`}</b>
              </dt>
              <dd className="quiet">
                {says} {url === '' ? source : <a href={url}>{source}</a>}
              </dd>
            </div>
          );
        })}
        <div>
          <dt>
            loads: <b>own</b>
          </dt>
          <dd className="quiet">
            {owningLoad.says} Source: {owningLoad.source}.
          </dd>
        </div>
      </dl>
    </details>
  );
}
