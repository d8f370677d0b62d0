// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Panel with the model's predictions next to the mail's measurements. Also the model's numbers, with their sources and
 * effects.
 */

import { rich, t } from '@page/base/lang/t.ts';
import type { Theme } from '@page/base/theme.ts';
import { formatCount, formatFigure, formatPlaces } from '@page/base/units.ts';
import type { RunIndex } from '@page/derive/types.ts';
import type { Lesson, Native } from '@page/protocol/lesson.ts';
import type { PanelProps } from '@page/views/contract.ts';
import { scaleLinear, scaleLog } from 'd3-scale';
import { area, line as lineShape } from 'd3-shape';
import { useEffect, useRef, useState } from 'react';
import { noRate } from './counted.ts';
import type { Prediction, Sensitivity } from './model/prediction.ts';
import { createPredictor, type Predictor } from './model/predictor.ts';
import { leftOut, mailRates, owningLoad, statedNumbers } from './model/stated.ts';
import { countedOf, type ModelSettings, settingsKey, settingsOf } from './model.ts';
import { CurveTable, ProfileChart, SensitivityTable } from './model-tables.tsx';

// A lane in the model's chart: the median as a dashed line, and a band that covers all seeds.

/** Maximum width of a lane's name, px. */
const widest = 150;

type Points = Prediction['curves'][number]['points'];

/** Draw a lane's curve, dashed because it is modelled. The first lane has discs, the last lane squares. */
function Curve({
  points,
  theme,
  x,
  y,
  first,
  name,
}: {
  readonly points: Points;
  readonly theme: Theme;
  readonly x: (n: number) => number;
  readonly y: (v: number) => number;
  readonly first: boolean;
  readonly name: string;
}) {
  const last = points.at(-1);
  if (last === undefined) return null;
  const middle = lineShape<Points[number]>()
    .x(({ cpus }) => x(cpus))
    .y(({ opsPerS }) => y(opsPerS.median))
    .digits(1);
  const band = area<Points[number]>()
    .x(({ cpus }) => x(cpus))
    .y0(({ opsPerS }) => y(opsPerS.low))
    .y1(({ opsPerS }) => y(opsPerS.high))
    .digits(1);
  const colour = first ? theme.work : theme.gain;
  // While the model is still computing, the curve can be too short for the lane's name at its left.
  const early = x(last.cpus) < widest;
  return (
    <g>
      <path d={band(points) ?? ''} fill={colour} opacity={0.18} />
      <path
        d={middle(points) ?? ''}
        fill="none"
        stroke={colour}
        strokeWidth={2}
        strokeDasharray="6 4"
      />
      {points.map(({ cpus, opsPerS }) =>
        first ? (
          <circle key={cpus} cx={x(cpus)} cy={y(opsPerS.median)} r={3} fill={colour} />
        ) : (
          <rect
            key={cpus}
            x={x(cpus) - 3}
            y={y(opsPerS.median) - 3}
            width={6}
            height={6}
            fill={colour}
          />
        ),
      )}
      <text
        x={early ? x(2) + 4 : x(last.cpus)}
        y={y(last.opsPerS.median) + (first ? 18 : -9)}
        textAnchor={early ? 'start' : 'end'}
        fontSize={13}
        fontWeight={600}
        fill={theme.ink}
        fontFamily={theme.font}
      >
        {name}
      </text>
    </g>
  );
}

// Results of `duet microscope --native`, if they were measured on a machine with enough cores.

/** Fewest cores for a result (`LEAST_CORES` in the backend's lenses/scope/native.py). */
const leastCores = 4;

type Point = Native['arms'][number]['curve'][number];
type Scale = (value: number) => number;

/** Points of the chart, without the point for one thread: a single thread never loses a line. */
function shownPoints(points: readonly Point[]): readonly Point[] {
  return points.filter(({ threads }) => threads >= 2);
}

interface LineProps {
  readonly points: readonly Point[];
  readonly theme: Theme;
  readonly x: Scale;
  readonly y: Scale;
  readonly first: boolean;
  readonly name: string;
}

/**
 * Draw a measured curve as a solid line, with a bar from the lowest to the highest run. The model's curves are dashed.
 */
function NativeLine({ points, theme, x, y, first, name }: LineProps) {
  const shown = shownPoints(points);
  const colour = first ? theme.work : theme.gain;
  const path = lineShape<Point>()
    .x(({ threads }) => x(threads))
    .y(({ median }) => y(median))
    .digits(1);
  return (
    <g data-testid="native-line" stroke={colour} strokeWidth={2}>
      <title>{t('{name}, measured', { name })}</title>
      <path d={path([...shown]) ?? ''} fill="none" />
      {shown.map(({ threads, median, low, high }) => (
        <g key={threads}>
          <line x1={x(threads)} x2={x(threads)} y1={y(low)} y2={y(high)} />
          <line x1={x(threads) - 4} x2={x(threads) + 4} y1={y(median)} y2={y(median)} />
        </g>
      ))}
    </g>
  );
}

/** Explains which measurement the solid lines need, and the commands for it. Hidden after the measurement. */
function NativeMissing({ slug }: { readonly slug: string }) {
  return (
    <p className="small off-slides" data-testid="native-missing">
      {rich(
        '<b>No solid lines yet:</b> no host has measured these accesses with real threads, which needs {cores} or more cores. There, <code>{here}</code> measures them. <code>{pack}</code> makes a pack for a host on which nothing can be installed.',
        {
          cores: leastCores,
          here: `./duet microscope ${slug} --native`,
          pack: `./duet pack ${slug}`,
          b: (words) => <b>{words}</b>,
          code: (words) => <code>{words}</code>,
        },
      )}
    </p>
  );
}

/** Machine, date and method of the measurement, and all its figures. */
export function NativeNote({ lesson, title }: { lesson: Lesson; title: (arm: string) => string }) {
  const { native, operation } = lesson;
  if (native === null) return <NativeMissing slug={lesson.slug} />;
  const { made, ratio } = native;
  const arms = native.arms.map(({ arm, curve }) => ({ name: title(arm), curve }));
  const columns =
    native.host === null
      ? arms
      : [...arms, { name: `Linux ${made.kernel}`, curve: native.host.curve }];
  const span = t('{low} to {high}', {
    low: formatFigure(ratio.low),
    high: formatFigure(ratio.high),
  });
  return (
    <div data-testid="native">
      <p className="small">
        {rich(
          '<b>Measured on {cpu}</b> (solid lines), {day}, Linux {kernel}: {what}. With {threads} threads on {cores} cores {of} has {median} times the rate of {to} (95 %: {span}).',
          {
            cpu: made.cpu,
            b: (words) => <b>{words}</b>,
            day: made.at.slice(0, 10),
            kernel: made.kernel,
            what: native.what,
            threads: native.threads,
            cores: native.cores,
            of: title(ratio.of),
            median: formatFigure(ratio.median),
            to: title(ratio.to),
            span,
          },
        )}
      </p>
      <details className="small">
        <summary>{t('what was measured, as a table')}</summary>
        <table className="table small" data-testid="native-table">
          <caption className="small quiet">
            {t(
              '{plural} per second, all threads together; measured in runs of {ms} ms, compiled by {compiler}',
              {
                plural: operation.plural,
                ms: native.run_ms,
                compiler: made.compiler,
              },
            )}
          </caption>
          <thead>
            <tr>
              <th scope="col" className="right">
                {t('threads')}
              </th>
              {columns.map(({ name }) => (
                <th key={name} scope="col" className="right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(columns[0]?.curve ?? []).map(({ threads }, i) => (
              <tr key={threads}>
                <th scope="row" className="right">
                  {threads}
                </th>
                {columns.map(({ name, curve }) => (
                  <td key={name} className="right">
                    {`${((curve[i]?.median ?? 0) / 1e6).toFixed(2)}M`}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {native.host !== null && (
          <p className="quiet">
            {t(
              'Last column: {what}. This measurement has a single layout, so it compares no layouts. It shows the rates that this machine reaches.',
              { what: native.host.what },
            )}
          </p>
        )}
        {native.remarks.map((remark) => (
          <p key={remark} className="quiet">
            {t('Note: {remark}.', { remark: remark.replace(/\.$/, '') })}
          </p>
        ))}
      </details>
    </div>
  );
}

/**
 * Chart of stats per second against CPUs. Each lane has a dashed line and a band that covers all seeds. The mail's
 * figures are marked points.
 */

const box = { width: 296, height: 250, left: 34, right: 10, top: 14, bottom: 36 };
const ticks = [2, 4, 8, 16, 32, 64];

interface Props {
  readonly prediction: Prediction;
  readonly theme: Theme;
  readonly title: (arm: string) => string;
  /** Number of CPUs in the picture. */
  readonly at: number;
  /** Plural noun of the operations, such as "stats". */
  readonly many: string;
  /** Results of a machine's measurement; null if there is none. */
  readonly native: Native | null;
}

/**
 * The mail's figures for the displayed arms. The first arm is the kernel before the change, the last arm the kernel
 * after the change.
 */
export function mailPoints(arms: readonly string[]) {
  const { cpus, stockPerS, movedPerS } = mailRates;
  const of = (arm: string) => (arm === 'moved' ? movedPerS : stockPerS);
  return arms.map((arm) => ({ arm, cpus, perSecond: of(arm) }));
}

export function ModelChart({ prediction, theme, title, at, many, native }: Props) {
  const curves = prediction.curves.map(({ arm, points }) => ({
    arm,
    points: points.filter(({ cpus }) => cpus >= 2),
  }));
  const mail = mailPoints(curves.map(({ arm }) => arm));
  const measured = curves.map(
    ({ arm }) => native?.arms.find((one) => one.arm === arm)?.curve ?? [],
  );
  const most = Math.max(
    ...measured.flatMap((points) => shownPoints(points).map(({ high }) => high)),
    ...mail.map((one) => one.perSecond),
    ...curves.flatMap(({ points }) => points.map(({ opsPerS }) => opsPerS.high)),
  );
  const x = scaleLog([2, 64], [box.left, box.width - box.right]).base(2);
  const y = scaleLinear([0, most * 1.12], [box.height - box.bottom, box.top]);
  const label = { fontSize: 13, fill: theme.faint, fontFamily: theme.font };
  return (
    <svg
      viewBox={`0 0 ${box.width} ${box.height}`}
      width="100%"
      style={{ maxWidth: 420, display: 'block' }}
      role="img"
      aria-label={t('Predicted {many} per second against the number of CPUs. {rates}', {
        many,
        rates: spoken(prediction, title),
      })}
      data-testid="model-chart"
    >
      {y.ticks(4).map((v) => (
        <g key={v}>
          <line x1={box.left} x2={box.width - box.right} y1={y(v)} y2={y(v)} stroke={theme.rule} />
          <text {...label} x={box.left - 6} y={y(v) + 4} textAnchor="end">
            {v === 0 ? '0' : `${v / 1e6}M`}
          </text>
        </g>
      ))}
      {ticks.map((n) => (
        <text key={n} {...label} x={x(n)} y={box.height - box.bottom + 17} textAnchor="middle">
          {n}
        </text>
      ))}
      <text {...label} x={box.width - box.right} y={box.height - 3} textAnchor="end">
        {t('CPUs, {many} per second', { many })}
      </text>
      {at >= 2 && (
        <line
          x1={x(at)}
          x2={x(at)}
          y1={box.top}
          y2={box.height - box.bottom}
          stroke={theme.staff}
          strokeWidth={2}
        />
      )}
      {curves.map(({ arm, points }, i) => (
        <Curve key={arm} {...{ points, theme }} x={x} y={y} first={i === 0} name={title(arm)} />
      ))}
      {measured.map((points, i) =>
        points.length === 0 ? null : (
          <NativeLine
            key={curves[i]!.arm}
            {...{ points, theme }}
            x={x}
            y={y}
            first={i === 0}
            name={title(curves[i]!.arm)}
          />
        ),
      )}
      {mail.map(({ arm, cpus, perSecond }) => (
        <g key={arm} stroke={theme.ink} strokeWidth={2}>
          <title>
            {t('the mail, measured: {rate} ops/s, {arm}', {
              rate: formatCount(perSecond),
              arm: title(arm),
            })}
          </title>
          <line x1={x(cpus) - 5} x2={x(cpus) + 5} y1={y(perSecond)} y2={y(perSecond)} />
          <line x1={x(cpus)} x2={x(cpus)} y1={y(perSecond) - 5} y2={y(perSecond) + 5} />
          <text
            {...label}
            fill={theme.ink}
            stroke={theme.paper}
            strokeWidth={3}
            paintOrder="stroke"
            x={x(cpus) - 9}
            y={y(perSecond) - 3}
            textAnchor="end"
          >
            {t('mail {n}M', { n: formatPlaces(perSecond / 1e6, 2) })}
          </text>
        </g>
      ))}
    </svg>
  );
}

function spoken({ curves }: Prediction, title: (arm: string) => string): string {
  return curves
    .map(({ arm, points }) => {
      const words = points.map(({ cpus, opsPerS }) =>
        t('{cpus}: {n} million', { cpus, n: formatPlaces(opsPerS.median / 1e6, 2) }),
      );
      return `${title(arm)} ${words.join(', ')}`;
    })
    .join('; ');
}

/**
 * The model's curves for the displayed lanes. A worker computes the curves anew after each change of a model's knob.
 */

export interface PredictedSoFar {
  readonly settings: ModelSettings;
  /** The partial result; null before the first step. */
  readonly prediction: Prediction | null;
  readonly complaint: string;
}

function usePrediction(runIndex: RunIndex, lesson: Lesson): PredictedSoFar {
  // The curve does not depend on the picture's number of CPUs or schedule.
  const settings = { ...settingsOf(runIndex.params, lesson), schedule: 'timed' as const, cpus: 2 };
  const lanes = runIndex.lanes.map((lane) => ({ arm: lane.arm, counted: countedOf(lane) }));
  const ready = runIndex.lanes.length > 0 && runIndex.lanes.every((lane) => lane.ended);
  const known = lanes.every(({ counted }) => counted.ops > 0 && counted.placed);
  const key = [
    settingsKey(settings),
    ready && known,
    ...lanes.map(({ arm, counted }) => `${arm} ${counted.shown}`),
    runIndex.runId,
  ].join(' ');
  const [prediction, setPrediction] = useState<Prediction | null>(null);
  const [complaint, setComplaint] = useState('');
  const predictor = useRef<Predictor | null>(null);
  const latest = useRef({ settings, lanes });
  latest.current = { settings, lanes };
  useEffect(() => {
    predictor.current = createPredictor((shown) => {
      if ('complaint' in shown) setComplaint(shown.complaint);
      else setPrediction(shown);
    });
    return () => predictor.current?.close();
  }, []);
  const ask = ready && known;
  useEffect(() => {
    if (!ask || key === '') return;
    setPrediction(null);
    setComplaint('');
    const arms = latest.current.lanes.map(({ arm, counted: { streams } }) => ({ arm, streams }));
    const { settings } = latest.current;
    const { owning } = settings;
    const request = { arms, settings, compareAt: mailRates.cpus, owning };
    predictor.current?.ask(request);
    return () => predictor.current?.drop();
  }, [key, ask]);
  return { settings, prediction, complaint };
}

/** Number of points on one lane's curve. */
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
            ? t('The model is computing…')
            : t('The model waits for the end of the run.')}
        </p>
      )}
    </div>
  );
}

/** The curves, the profile and the tables that have been computed so far. */
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
          '{protocol}. A band extends from the lowest to the highest value of three seeds. The crosses are the rates that the mail measured on {cpus} CPUs. No number of the model was fitted to the crosses, but loads own the line because of the profile below.',
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

/** The knob that lets loads own the line. It is shown next to the curve that depends on this knob. */
function Owning({
  lesson,
  owning,
  onKnob,
}: Pick<PanelProps, 'lesson' | 'onKnob'> & { readonly owning: boolean }) {
  const knob = lesson.params['owning'];
  if (knob === undefined) return null;
  const why = onKnob === undefined && t("The knob can be set on the lesson's page.");
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
  return t('The model is computing: {n} of {all} points…', { n, all: curvePoints });
}

function ratioWords(found: Sensitivity, { operation }: Lesson): string {
  const mail = mailRates.movedPerS / mailRates.stockPerS;
  return t(
    'With {cpus} CPUs, the model gives {ratio} times as many {plural} if a load that leads to a compare-and-swap owns the line, and {reading} times as many if such a load reads the line. The mail measured {mail}.',
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

/** Table of the model's numbers, with their sources. It marks numbers that the viewer has changed. */
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
