// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts, beside what the mail measured; its numbers with their sources, and what hangs on each. */

import { rich, t } from '../../base/lang/t.ts';
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
import { type ModelSettings, settingsOf } from './settings.ts';
import { usePrediction } from './use-prediction.ts';

/** Points of a curve for one lane. */
const curvePoints = 11;

export function ModelPanel({ runIndex, lesson, theme, onKnob }: PanelProps) {
  const { settings, prediction, complaint } = usePrediction(runIndex, lesson);
  if (complaint !== '')
    return <p className="small">{t('The model gave up: {why}', { why: complaint })}</p>;
  const refused = runIndex.lanes.map((lane) => noRate(lane, lesson)).find((why) => why !== null);
  if (refused) {
    return (
      <p className="small quiet" data-testid="no-rate">
        {refused}
      </p>
    );
  }
  const known = prediction !== null && (prediction.curves[0]?.points.length ?? 0) >= 2;
  return (
    <div
      data-testid="model"
      data-done={known && prediction.done ? '' : undefined}
      aria-busy={!(known && prediction.done)}
    >
      <Owning {...{ lesson, onKnob }} owning={settings.owning} />
      {known ? (
        <Predicted {...{ runIndex, lesson, theme, settings, prediction }} />
      ) : (
        <p className="small quiet" role="status">
          {runIndex.lanes.every((lane) => lane.ended)
            ? t('The model is at work…')
            : t('The model waits for the end of the run.')}
        </p>
      )}
    </div>
  );
}

/** Curves, profile and tables, as far as they have come. */
function Predicted({
  runIndex,
  lesson,
  theme,
  settings,
  prediction,
}: Pick<PanelProps, 'runIndex' | 'lesson' | 'theme'> & {
  readonly settings: ModelSettings;
  readonly prediction: Prediction;
}) {
  const title = (arm: string) => lesson.arms.find((one) => one.name === arm)?.title ?? arm;
  const { cpus } = settingsOf(runIndex.params, lesson);
  const found = prediction.sensitivity;
  return (
    <>
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
        {t(
          '{protocol}; bands: lowest and highest of three seeds. Crosses: what the mail measured, on {cpus} CPUs. No number here was fitted to them; that loads own was chosen by the profile below.',
          { protocol: settings.protocol, cpus: mailRates.cpus },
        )}
      </p>
      <NativeNote {...{ lesson, title }} />
      <ProfileChart profiles={prediction.profile} {...{ theme, title }} />
      {found && <SensitivityTable found={found} />}
      <CurveTable {...{ prediction, title, lesson }} />
      <Numbers lesson={lesson} runIndex={runIndex} />
      <details className="small">
        <summary>{t('what the model leaves out')}</summary>
        <ul>
          {leftOut.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

/** The knob that the text speaks of, beside the curve that hangs on it. */
function Owning({
  lesson,
  owning,
  onKnob,
}: Pick<PanelProps, 'lesson' | 'onKnob'> & { readonly owning: boolean }) {
  const knob = lesson.params['owning'];
  if (knob === undefined) return null;
  const why = onKnob === undefined && t('It can be turned on the page of the lesson.');
  const off = why ? { disabled: true, 'aria-description': why } : {};
  return (
    <label className="small" title={why || t('the knob “{title}”', { title: knob.title })}>
      <input
        type="checkbox"
        checked={owning}
        {...off}
        onChange={(event) => onKnob?.('owning', event.target.checked ? 1 : 0)}
        data-testid="owning"
      />{' '}
      <b>{knob.title}:</b> {knob.help}
    </label>
  );
}

function progressWords({ curves }: Prediction): string {
  const n = Math.max(0, ...curves.map(({ points }) => points.length));
  return t('The model is at work: {n} of {all} points…', { n, all: curvePoints });
}

function ratioWords(found: Sensitivity, { operation }: Lesson): string {
  const mail = mailRates.movedPerS / mailRates.stockPerS;
  return t(
    'With {cpus} CPUs the model gives {ratio} times as many {plural} if loads that lead to a compare-and-swap own the line, and {reading} if they read it; the mail measured {mail}.',
    {
      cpus: found.cpus,
      ratio: formatFigure(found.owning.stated.ratio),
      plural: operation.plural,
      reading: formatFigure(found.reading.stated.ratio),
      mail: formatFigure(mail),
    },
  );
}

const byKnob: Readonly<Record<string, 'hitNs' | 'transferNs' | 'upgradeNs' | 'ownNs'>> = {
  hit_ns: 'hitNs',
  transfer_ns: 'transferNs',
  upgrade_ns: 'upgradeNs',
  own_ns: 'ownNs',
};

/** Each number of the model, where it comes from, and whether the viewer has changed it. */
function Numbers({ lesson, runIndex }: Pick<PanelProps, 'lesson' | 'runIndex'>) {
  const { latencies, owning } = settingsOf(runIndex.params, lesson);
  return (
    <details className="small" data-testid="stated">
      <summary>{t('its numbers, and their sources')}</summary>
      <dl>
        {Object.entries(statedNumbers).map(([name, { value, title, says, source, url }]) => {
          const key = byKnob[name];
          const now = key === undefined ? value : latencies[key];
          const unit = key === undefined ? '' : ' ns';
          const changed =
            now === value ? '' : t(', now {now}', { now: `${formatFigure(now)}${unit}` });
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
            {owning
              ? rich('loads: <b>own</b>', { b: (words) => <b>{words}</b> })
              : rich('loads: <b>own, now read</b>', { b: (words) => <b>{words}</b> })}
          </dt>
          <dd className="quiet">
            {t('{says} Source: {source}.', { says: owningLoad.says, source: owningLoad.source })}
          </dd>
        </div>
      </dl>
    </details>
  );
}
