// SPDX-License-Identifier: GPL-2.0-or-later
/** A chart of one number over the values of a knob, with one line per arm. The values are evenly spaced. */

import { scaleLinear, scalePoint } from 'd3-scale';
import { line as lineShape } from 'd3-shape';
import type { KeyboardEvent } from 'react';
import { t } from '../base/lang/t.ts';
import { formatCount, formatFigure } from '../base/units.ts';

const box = { width: 288, height: 210, right: 14, top: 24, bottom: 42 };
/** Width of a digit, px: in general, and on the knob's axis, whose smaller digits leave room for many values. */
const [digit, small] = [7.6, 6.7];
/** Colours of the arms in order. The shapes of the arms' marks differ as well. */
const inks = ['var(--work)', 'var(--wait)', 'var(--gain)', 'var(--mechanism)'] as const;
const paperEdge = { paintOrder: 'stroke', stroke: 'var(--paper)', strokeWidth: 6 } as const;

interface MarkProps {
  readonly arm: number;
  readonly x: number;
  readonly y: number;
}

/** The mark of an arm, for charts and for the heads of their tables. */
function CurveMark({ arm, x, y }: MarkProps) {
  const fill = inks[arm % inks.length];
  if (arm % 3 === 0) return <circle cx={x} cy={y} r={4} fill={fill} />;
  if (arm % 3 === 1)
    return <circle cx={x} cy={y} r={3.4} fill="var(--paper)" stroke={fill} strokeWidth={2} />;
  return <rect x={x - 3.6} y={y - 3.6} width={7.2} height={7.2} fill={fill} />;
}

/** The mark for the median of untraced runs: a cross for every arm. */
function Median({ arm, x, y }: MarkProps) {
  const d = `M${x - 5},${y - 5}L${x + 5},${y + 5}M${x - 5},${y + 5}L${x + 5},${y - 5}`;
  return <path d={d} stroke={inks[arm % inks.length]} strokeWidth="2" />;
}

/** The numbers of all arms at one value of the knob; null where an arm has none. */
export interface ChartPoint {
  readonly value: number;
  readonly of: readonly (number | null)[];
  /** Medians of untraced runs, which are drawn beside the line. */
  readonly medians?: readonly (number | null)[];
}

interface FiguresProps {
  readonly over: string;
  readonly arms: readonly string[];
  readonly points: readonly ChartPoint[];
  /** Formats the ratio of a number to that of the first arm. */
  readonly ratioWords: (ratio: number) => string;
  /** The value whose run is on the stage. */
  readonly here?: number | null;
  readonly testId: string;
}

/** The numbers of a chart as a table. Each number is followed by its ratio to that of the first arm. */
export function CurveFigures({ over, arms, points, ratioWords, here, testId }: FiguresProps) {
  return (
    <table className="table small" data-testid={testId}>
      <thead>
        <tr>
          <th scope="col">{over}</th>
          {arms.map((arm, n) => (
            <th key={arm} scope="col" className="right">
              <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                <CurveMark arm={n} x={6} y={6} />
              </svg>{' '}
              {arm}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map(({ value, of }) => (
          <tr key={value} aria-current={value === here || undefined}>
            <th scope="row">{formatCount(value)}</th>
            {of.map((number, n) => (
              <td key={arms[n]} className="right">
                {number === null ? '–' : formatFigure(number)}
                {n > 0 && number !== null && of[0] ? (
                  <span className="quiet"> {`×${ratioWords(number / of[0])}`}</span>
                ) : null}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Props {
  /** Title of the knob on the axis. */
  readonly over: string;
  /** What the number is, or its unit. */
  readonly unit: string;
  readonly values: readonly number[];
  /** The largest number that the chart must hold. */
  readonly most: number;
  /** Titles of the arms. */
  readonly arms: readonly string[];
  readonly points: readonly ChartPoint[];
  /** Values of the knob at which nothing was measured. */
  readonly missing?: readonly number[];
  /** Whether the chart has the unit as its title; default: yes. */
  readonly title?: boolean;
  /** The value whose run is on the stage. */
  readonly here?: number | null;
  /** A value that answers a question. */
  readonly answer?: number | null;
  /** Called when the viewer chooses a value of the knob. */
  readonly onValue?: (value: number) => void;
}

export function CurveChart(props: Props) {
  const { over, unit, values, most, arms, points, missing = [], onValue } = props;
  const y = scaleLinear([0, most], [box.height - box.bottom, box.top]).nice(3);
  const numbers = points.length === 0 ? [0] : y.ticks(3);
  const numberWords = numbers.map((one) => (most < 10 ? formatFigure(one) : formatCount(one)));
  const left = 14 + digit * Math.max(...numberWords.map(({ length }) => length));
  const across = scalePoint(values, [left + 14, box.width - box.right - 14]);
  const x = (value: number) => across(value) ?? 0;
  const place = lineShape<readonly [number, number]>(
    ([value]) => x(value),
    ([, number]) => y(number),
  ).digits(1);
  const label = onValue
    ? t('{unit} over {knob}; each value is a button that shows its run', { unit, knob: over })
    : t('{unit} over {knob}; the table below has the figures', { unit, knob: over });
  return (
    <svg
      viewBox={`0 0 ${box.width} ${box.height}`}
      role={onValue ? 'group' : 'img'}
      aria-label={label}
      style={{ width: '100%', height: 'auto', font: '13px var(--font-ui)' }}
    >
      <g fill="var(--soft)">
        {numbers.map((number, i) => (
          <g key={number}>
            <line
              x1={left}
              x2={box.width - box.right}
              y1={y(number)}
              y2={y(number)}
              stroke="var(--rule)"
            />
            <text x={left - 6} y={y(number) + 4} textAnchor="end">
              {numberWords[i]}
            </text>
          </g>
        ))}
        {apart(values, across.step(), props.answer ?? null).map((value) => (
          <text
            key={value}
            x={x(value)}
            y={box.height - box.bottom + 16}
            textAnchor="middle"
            fontSize="11.5"
          >
            {formatCount(value)}
          </text>
        ))}
        <text x={(left + box.width) / 2} y={box.height - 6} textAnchor="middle">
          {over}
        </text>
        {props.title !== false && (
          <text x={2} y={14}>
            {unit}
          </text>
        )}
      </g>
      {props.answer != null && (
        <Upright x={x(props.answer)} ink="var(--ink)" dashes="4 3" testId="curve-answer" />
      )}
      {missing.map((value) => (
        <g key={value} data-missing={value}>
          <Upright x={x(value)} ink="var(--faint)" dashes="2 5" />
          <text
            x={x(value)}
            y={(box.top + box.height - box.bottom) / 2}
            fill="var(--soft)"
            textAnchor="middle"
            style={paperEdge}
          >
            ?
          </text>
        </g>
      ))}
      {arms.map((name, n) => {
        const own = points.flatMap(({ value, of }) => {
          const number = of[n];
          return number == null ? [] : [[value, number] as const];
        });
        return (
          <g key={name}>
            <path d={place(own) ?? ''} fill="none" stroke={inks[n % inks.length]} strokeWidth="2" />
            {own.map(([value, number]) => (
              <g key={value}>
                <title>
                  {t('{name}, {value}: {rate} {unit}', {
                    ...{ name, value, unit },
                    rate: formatFigure(number),
                  })}
                </title>
                <CurveMark arm={n} x={x(value)} y={y(number)} />
              </g>
            ))}
            {points.map(({ value, medians }) => {
              const median = medians?.[n];
              if (median == null) return null;
              return <Median key={value} arm={n} x={x(value)} y={y(median)} />;
            })}
          </g>
        );
      })}
      {onValue !== undefined &&
        points.map(({ value }) => (
          <Choice
            key={value}
            x={x(value)}
            width={Math.min(across.step() || 40, 40)}
            here={props.here === value}
            label={t('{knob} {value}: show this run', { knob: over, value: formatCount(value) })}
            onChoose={() => onValue(value)}
          />
        ))}
    </svg>
  );
}

/**
 * The values whose labels fit beside each other, in order.
 *
 * @param step distance of two values, px
 * @param first a value that always gets a label; the last value is the second to get one
 */
export function apart(
  values: readonly number[],
  step: number,
  first: number | null = null,
): readonly number[] {
  const half = (value: number) => (formatCount(value).length * small) / 2;
  const chosen: number[] = [];
  const others = values.toReversed();
  for (const value of first === null ? others : [first, ...others]) {
    const clear = (other: number) =>
      Math.abs(values.indexOf(value) - values.indexOf(other)) * step > half(value) + half(other);
    if (chosen.every(clear)) chosen.push(value);
  }
  return chosen.sort((a, b) => a - b);
}

function Upright({
  x,
  ink,
  dashes,
  testId,
}: {
  readonly x: number;
  readonly ink: string;
  readonly dashes: string;
  readonly testId?: string;
}) {
  return (
    <line
      x1={x}
      x2={x}
      y1={box.top}
      y2={box.height - box.bottom}
      stroke={ink}
      strokeDasharray={dashes}
      data-testid={testId}
    />
  );
}

interface ChoiceProps {
  readonly x: number;
  readonly width: number;
  readonly here: boolean;
  readonly label: string;
  readonly onChoose: () => void;
}

/** A button over one value of the knob, from the top of the chart to the value's number. */
function Choice({ x, width, here, label, onChoose }: ChoiceProps) {
  const keyed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    onChoose();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an SVG has no button element
    <rect
      className="curve-choice"
      role="button"
      tabIndex={0}
      aria-label={label}
      aria-pressed={here}
      x={x - width / 2}
      y={box.top}
      width={width}
      height={box.height - box.top - box.bottom + 22}
      rx={3}
      onClick={onChoose}
      onKeyDown={keyed}
    />
  );
}
