// SPDX-License-Identifier: GPL-2.0-or-later
/** The model's predictions as tables. */

import { rich, t } from '@page/base/lang/t.ts';
import type { Theme } from '@page/base/theme.ts';
import { formatFigure, formatPlaces } from '@page/base/units.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { scaleLinear } from 'd3-scale';
import {
  type Case,
  casesOf,
  distance,
  type ModelNumber,
  type ModelProfile,
  mailShares,
  mostOff,
  type Prediction,
  type Ratios,
  type Sensitivity,
} from './model/prediction.ts';
import { mailProfile } from './model/stated.ts';

const words: Readonly<Record<ModelNumber, string>> = {
  hit: t('hit'),
  transfer: t('transfer'),
  upgrade: t('upgrade'),
  own: t('other work'),
  handover: t('handover'),
  jitter: t('jitter'),
};

/** Table of the ratio for each halved or doubled number of the model. It shows which values fit the mail's profile. */
export function SensitivityTable({ found }: { readonly found: Sensitivity }) {
  const { owning, reading, cpus } = found;
  return (
    <table className="table small" data-testid="sensitivity">
      <caption className="small quiet" style={{ textAlign: 'left' }}>
        {rich(
          '<b>How firm is the ratio?</b> The table has the ratio with {cpus} CPUs if one number of the model is halved or doubled. The figure below a ratio is the mean difference between the model’s and the mail’s time by function, in points. {owning} {reading} A ratio is struck out if its difference is more than {mostOff} points. Handover is the share of a transfer after which the other CPUs have lost the line. Jitter is the share by which the other work varies.',
          {
            b: (words) => <b>{words}</b>,
            cpus,
            owning: allowedWords(owning, 'own'),
            reading: allowedWords(reading, 'read'),
            mostOff,
          },
        )}
      </caption>
      <thead>
        <tr>
          <td />
          <th scope="colgroup" colSpan={2} className="right">
            {t('loads own')}
          </th>
          <th scope="colgroup" colSpan={2} className="right">
            {t('loads read')}
          </th>
        </tr>
        <tr>
          <th scope="col">{t('number')}</th>
          {['own half', 'own double', 'read half', 'read double'].map((of) => (
            <th key={of} scope="col" className="right">
              {of.endsWith('half') ? t('half') : t('double')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{t('as stated')}</th>
          <CaseCell of={owning.stated} span={2} />
          <CaseCell of={reading.stated} span={2} />
        </tr>
        {owning.rows.map(({ what, halved, doubled }, i) => (
          <tr key={what} data-what={what}>
            <th scope="row">{words[what]}</th>
            <CaseCell of={halved} />
            <CaseCell of={doubled} />
            <CaseCell of={reading.rows[i]!.halved} />
            <CaseCell of={reading.rows[i]!.doubled} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CaseCell({ of: { ratio, off }, span = 1 }: { readonly of: Case; readonly span?: number }) {
  const out = off > mostOff;
  return (
    <td className="right" colSpan={span} data-out={out ? '' : undefined}>
      {out ? <s className="quiet">{ratio.toFixed(2)}</s> : <b>{ratio.toFixed(2)}</b>}
      {Number.isNaN(off) ? null : (
        <>
          <br />
          <span className="quiet">{off.toFixed(1)}</span>
        </>
      )}
    </td>
  );
}

/** Range of the ratios in the cases whose profile is close to the mail's profile. */
export function allowedWords(ratios: Ratios, verb: 'own' | 'read'): string {
  const near = casesOf(ratios).flatMap(({ ratio, off }) => (off <= mostOff ? [ratio] : []));
  if (near.length === 0)
    return t(
      'If loads {verb, select, own {own} other {read}} the line, no profile of the model is near the mail’s profile.',
      {
        verb,
      },
    );
  const [low, high] = [Math.min(...near), Math.max(...near)].map((ratio) => ratio.toFixed(2));
  return t(
    'If loads {verb, select, own {own} other {read}} the line and the model’s profile is near the mail’s profile, the ratio is {ratio}.',
    {
      verb,
      ratio: low === high ? low : t('{low} to {high}', { low, high }),
    },
  );
}

/** The chart as a table. */
export function CurveTable({
  prediction,
  title,
  lesson,
}: {
  readonly lesson: Lesson;
  readonly prediction: Prediction;
  readonly title: (arm: string) => string;
}) {
  const { curves } = prediction;
  const figure = (arm: string, cpus: number) => {
    const point = curves.find((one) => one.arm === arm)?.points.find((one) => one.cpus === cpus);
    if (point === undefined) return '–';
    const per = (point.opsPerS.median / 1e6).toFixed(2);
    return `${per}M, ${formatFigure(point.transfersPerOp.median)}`;
  };
  return (
    <details className="small">
      <summary>{t('the curve as a table')}</summary>
      <table className="table small" data-testid="curve-table">
        <caption className="small quiet">
          {t('{plural} per second, and transfers per {name}; modelled', {
            plural: lesson.operation.plural,
            name: lesson.operation.name,
          })}
        </caption>
        <thead>
          <tr>
            <th scope="col" className="right">
              {t('CPUs')}
            </th>
            {curves.map(({ arm }) => (
              <th key={arm} scope="col" className="right">
                {title(arm)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(curves[0]?.points ?? []).map(({ cpus }) => (
            <tr key={cpus}>
              <th scope="row" className="right">
                {cpus}
              </th>
              {curves.map(({ arm }) => (
                <td key={arm} className="right" data-arm={arm} data-cpus={cpus}>
                  {figure(arm, cpus)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/**
 * Chart of the CPUs' time by function. Bars show the shares that the mail measured. Marks show the model's shares under
 * both rules for a load.
 */

const box = { width: 296, left: 56, right: 58, head: 24, row: 26, gap: 10 };
const ticks = [0, 20, 40, 60];
const most = 80;
const rules = ['owning', 'reading'] as const;
type Rule = (typeof rules)[number];
const ruleWords = { owning: t('model, loads own'), reading: t('model, loads read') } as const;

interface Props {
  readonly profiles: readonly ModelProfile[];
  readonly theme: Theme;
  readonly title: (arm: string) => string;
}

/** Format a share: "41.0", or "< 1.5" if the share is below the smallest share in the mail's list. */
export function mailWords(share: number | null): string {
  return share === null ? `< ${mailProfile.least_shown.toFixed(1)}` : share.toFixed(1);
}

export function ProfileChart(props: Props) {
  const known = props.profiles.filter(({ arm }) => mailShares(arm).some((one) => one !== null));
  if (known.length === 0) return null;
  return (
    <figure data-testid="profile" style={{ margin: '14px 0' }}>
      <figcaption className="small">
        {rich('<b>Where the CPUs’ time goes</b>, in percent per function, with {cpus} CPUs', {
          b: (words) => <b>{words}</b>,
          cpus: mailProfile.cpus,
        })}
      </figcaption>
      <Bars {...props} profiles={known} />
      <Legend theme={props.theme} />
      <p className="small">{verdict(known)}</p>
      <ProfileTable profiles={known} title={props.title} />
    </figure>
  );
}

function Bars({ profiles, theme, title }: Props) {
  const rows = mailProfile.parts.length;
  const each = box.head + rows * box.row + box.gap;
  const height = profiles.length * each + 18;
  const x = scaleLinear([0, most], [box.left, box.width - box.right]);
  const label = { fontSize: 13, fill: theme.faint, fontFamily: theme.font };
  return (
    <svg
      viewBox={`0 0 ${box.width} ${height}`}
      width="100%"
      style={{ maxWidth: 420, display: 'block' }}
      role="img"
      aria-label={t('Time by function. {shares}', {
        shares: profiles.map((one) => spoken(one, title)).join(' '),
      })}
    >
      {ticks.map((v) => (
        <text key={v} {...label} x={x(v)} y={height - 3} textAnchor="middle">
          {v === 60 ? '60 %' : v}
        </text>
      ))}
      {profiles.map((one, n) => (
        <g key={one.arm} transform={`translate(0 ${n * each})`}>
          {ticks.map((v) => (
            <line
              key={v}
              x1={x(v)}
              x2={x(v)}
              y1={box.head}
              y2={box.head + rows * box.row}
              stroke={theme.rule}
            />
          ))}
          <text {...label} fill={theme.ink} fontWeight={600} x={0} y={17}>
            {title(one.arm)}
          </text>
          {n === 0 && (
            <text {...label} x={box.width} y={17} textAnchor="end">
              {t('mail, %')}
            </text>
          )}
          {mailProfile.parts.map((part, i) => (
            <Row
              key={part.name}
              name={part.name}
              mail={mailShares(one.arm)[i] ?? null}
              shares={{ owning: one.owning[i]!, reading: one.reading[i]! }}
              y={box.head + (i + 0.5) * box.row}
              {...{ x, theme }}
            />
          ))}
        </g>
      ))}
    </svg>
  );
}

interface RowProps {
  readonly name: string;
  readonly mail: number | null;
  readonly shares: Readonly<Record<Rule, number>>;
  readonly x: (share: number) => number;
  readonly y: number;
  readonly theme: Theme;
}

/**
 * A solid bar shows the measured share. A dashed line from the bar's end to a mark shows how much the model differs.
 */
function Row({ name, mail, shares, x, y, theme }: RowProps) {
  const end = x(mail ?? 0);
  const text = { fontSize: 13, fill: theme.ink, fontFamily: theme.font };
  return (
    <g>
      <title>
        {t('{name}: the mail {mail} %; {rules}', {
          name,
          mail: mailWords(mail),
          rules: rules.map((rule) => `${ruleWords[rule]} ${shares[rule].toFixed(1)} %`).join('; '),
        })}
      </title>
      <rect x={0} y={y - box.row / 2} width={box.width} height={box.row} fill="transparent" />
      <text {...text} x={0} y={y + 4.5}>
        {name}
      </text>
      {mail !== null && (
        <rect x={x(0)} y={y - 7} width={end - x(0)} height={14} rx={1.5} fill={theme.work} />
      )}
      {rules.map((rule) => {
        const at = x(shares[rule]);
        const track = y + (rule === 'owning' ? -3.5 : 3.5);
        return (
          <g key={rule}>
            <line
              x1={Math.max(end, x(0))}
              x2={at}
              y1={track}
              y2={track}
              stroke={at < end ? theme.panel : theme.soft}
              strokeWidth={1.5}
              strokeDasharray="3 2.5"
            />
            <Mark {...{ rule, theme }} x={at} y={track} />
          </g>
        );
      })}
      <text {...text} x={box.width} y={y + 4.5} textAnchor="end">
        {mailWords(mail)}
      </text>
    </g>
  );
}

/** Hollow mark of a modelled share: a disc if loads ask to own the line, a diamond if loads ask to read the line. */
function Mark({
  rule,
  x,
  y,
  theme,
}: Pick<RowProps, 'theme'> & { rule: Rule; x: number; y: number }) {
  const paint = { fill: theme.panel, stroke: theme.ink, strokeWidth: 2 };
  return rule === 'owning' ? (
    <circle cx={x} cy={y} r={4.5} {...paint} />
  ) : (
    <path d={`M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`} {...paint} stroke={theme.faint} />
  );
}

function Legend({ theme }: { readonly theme: Theme }) {
  return (
    <p
      className="small quiet"
      style={{ display: 'flex', flexWrap: 'wrap', gap: '2px 14px', margin: '4px 0' }}
    >
      <span>
        <svg width="22" height="14" aria-hidden="true">
          <rect y="2" width="22" height="10" rx="1.5" fill={theme.work} />
        </svg>{' '}
        {t('the mail, measured')}
      </span>
      {rules.map((rule) => (
        <span key={rule}>
          <svg width="14" height="14" aria-hidden="true">
            <Mark {...{ rule, theme }} x={7} y={7} />
          </svg>{' '}
          {ruleWords[rule]}
        </span>
      ))}
    </p>
  );
}

/** Explain which of the two rules the profile supports, and by how much. */
export function verdict(profiles: readonly ModelProfile[]): string {
  const [own, read] = rules.map((rule) => distance(profiles, rule));
  const words = t(
    'On average, a share differs from the mail’s share by {own} points if loads own the line, and by {read} points if loads read the line',
    { own: formatFigure(own!), read: formatFigure(read!) },
  );
  return own! < read!
    ? t(
        '{words}. So loads own the line by default: with the stated numbers, the profile is then closer to the mail’s profile, but does not match it exactly.',
        { words },
      )
    : t('{words}. With these numbers, the profile is evidence against the default.', { words });
}

function spoken(one: ModelProfile, title: Props['title']): string {
  const parts = mailProfile.parts.map(({ name }, i) =>
    t('{name}: {mail} percent in the mail, {own} if loads own the line, {read} if they read it', {
      name,
      mail: mailWords(mailShares(one.arm)[i] ?? null),
      own: formatPlaces(one.owning[i]!, 1),
      read: formatPlaces(one.reading[i]!, 1),
    }),
  );
  return `${title(one.arm)}: ${parts.join('; ')}.`;
}

/** The chart as a table. */
function ProfileTable({ profiles, title }: Omit<Props, 'theme'>) {
  return (
    <details className="small">
      <summary>{t('the profile as a table, and its source')}</summary>
      <table className="table small" data-testid="profile-table">
        <thead>
          <tr>
            <th scope="col">%</th>
            <th scope="col" className="right">
              {t('mail')}
            </th>
            <th scope="col" className="right">
              {t('loads own')}
            </th>
            <th scope="col" className="right">
              {t('loads read')}
            </th>
          </tr>
        </thead>
        <tbody>
          {profiles.flatMap((one) =>
            mailProfile.parts.map(({ name }, i) => (
              <tr key={`${one.arm} ${name}`} data-arm={one.arm} data-part={name}>
                <th scope="row">
                  {title(one.arm)}, {name}
                </th>
                <td className="right">{mailWords(mailShares(one.arm)[i] ?? null)}</td>
                <td className="right">{one.owning[i]!.toFixed(1)}</td>
                <td className="right">{one.reading[i]!.toFixed(1)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
      <p className="quiet">{mailProfile.says}</p>
    </details>
  );
}
