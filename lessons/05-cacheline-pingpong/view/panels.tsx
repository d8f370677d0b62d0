// SPDX-License-Identifier: GPL-2.0-or-later
/** Panels next to the stage: counted accesses, the model's predictions, and operations under the lock. */

import { t } from '@page/base/lang/t.ts';
import { formatCount, formatFigure } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import { armTitle } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { ArmTable } from '@page/views/arm-table.tsx';
import type { Panel, PanelProps } from '@page/views/contract.ts';
import { curvePanel } from '@page/views/curve-panel.tsx';
import {
  type BusyLine,
  type Cell,
  isStack,
  noCounts,
  objectName,
  type Sum,
  stillRead,
  type Totals,
  totalsOf,
} from './counted.ts';
import { phaseWords } from './draw-lock.ts';
import { lineBytes, structOf } from './fields.ts';
import {
  burstWords,
  intervalsOf,
  phaseFigures,
  phasesOf,
  rateOf,
  shareIn,
  slowShare,
} from './lock.ts';
import { ModelPanel } from './model-panel.tsx';

// Panel of the microscope's counts per operation: the object's fields by function, and the busiest other lines.

/** Format a sum: "4 r, 2 rmw". Zeros are left out. `say` formats one number. */
export function sumWords(
  sum: Sum,
  say: (of: keyof Sum, n: number) => string = (_, n) => formatFigure(n),
): string {
  const parts = [
    ['reads', 'r'],
    ['writes', 'w'],
    ['rmws', 'rmw'],
  ] as const;
  const words = parts.flatMap(([of, short]) =>
    sum[of] < 0.005 ? [] : [`${say(of, sum[of])} ${short}`],
  );
  return words.length === 0 ? '0' : words.join(', ');
}

/** Format the accesses to the most written line. Once the run is complete, the picture shows the same figures. */
function hotWords({ arm, ended }: LaneIndex, sum: Sum): string {
  if (!ended) return sumWords(sum);
  return sumWords(sum, (of, n) => figure('run', arm, `hot ${of}`, n, formatFigure(n)));
}

/** Table of the object's lines, with each arm's accesses per operation. */
function LineTable({ runIndex, lesson }: Pick<PanelProps, 'runIndex' | 'lesson'>) {
  const lanes = new Map(runIndex.lanes.map((lane) => [lane.arm, lane]));
  const arms = lesson.arms.filter((arm) => lanes.has(arm.name));
  const lines = Math.max(0, ...runIndex.lanes.map((lane) => structOf(lane)?.lines ?? 0));
  const rows = Array.from({ length: lines }, (_, line) => ({
    head: t('line {line}', { line }),
    of: (arm: string) => {
      const lane = lanes.get(arm);
      const totals = lane && totalsOf(lane);
      if (!totals || lane === undefined) return '–';
      const hot = structOf(lane)?.hot;
      const sum = totals.lines[line] ?? { reads: 0, writes: 0, rmws: 0 };
      return hot?.line === line ? `${hotWords(lane, sum)} (${hot.words})` : sumWords(sum);
    },
  }));
  return <ArmTable arms={arms} rows={rows} testId="line-counts" />;
}

interface CellRow extends Cell {
  readonly title: string;
}

/**
 * Table of accesses to the most written line, with one row per field and function. If no line is written, the table has
 * all accesses.
 */
function CellTable({ lane, totals, title, lesson }: LaneProps) {
  const hot = structOf(lane)?.hot ?? null;
  const rows: CellRow[] = totals.cells
    .filter((cell) => hot === null || Math.floor(cell.at / lineBytes) === hot.line)
    .map((cell) => ({ ...cell, title }));
  return (
    <table className="table small" data-testid={`cells-${lane.arm}`}>
      <caption className="small quiet">
        {hot === null
          ? t('{title}: accesses of each function to the {object}, per {name}', {
              ...{ title, object: objectName(lesson), name: lesson.operation.name },
            })
          : t('{title}: accesses of each function to the {line} (line {n}), per {name}', {
              ...{ title, line: hot.lineWords, n: hot.line, name: lesson.operation.name },
            })}
      </caption>
      <thead>
        <tr>
          <th scope="col">{t('field')}</th>
          <th scope="col">{t('function')}</th>
          <th scope="col" className="right">
            {t('accesses')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.at} ${row.func}`}>
            <td>{row.field}</td>
            <td className="mono-break">{row.func}</td>
            <td className="right">{sumWords(row)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface LaneProps {
  readonly lane: LaneIndex;
  readonly totals: Totals;
  readonly title: string;
  readonly lesson: Lesson;
}

/** Number of lines that are shown before the viewer opens the rest. */
const fewLines = 4;

/** Table of the busiest lines that the watched functions access, including the object's lines. */
function BusyLines({ totals, title, lane, lesson }: LaneProps) {
  const { busiest } = totals;
  if (busiest.length === 0) return null;
  const few = busiest.slice(0, fewLines);
  const rest = busiest.slice(fewLines);
  const caption = t(
    '{title}: the busiest lines. Lines that several vCPUs access, and at least one vCPU writes, come first',
    { title },
  );
  return (
    <>
      <BusyTable lines={few} {...{ caption, lesson }} testId={`busiest-${lane.arm}`} />
      {rest.length > 0 && (
        <details className="small">
          <summary>{t('{n} more', { n: rest.length })}</summary>
          <BusyTable lines={rest} caption="" lesson={lesson} testId={`more-lines-${lane.arm}`} />
        </details>
      )}
    </>
  );
}

interface BusyProps {
  readonly lines: readonly BusyLine[];
  readonly caption: string;
  readonly testId: string;
  readonly lesson: Lesson;
}

function BusyTable({ lines, caption, testId, lesson }: BusyProps) {
  return (
    <table className="table small" data-testid={testId}>
      {caption !== '' && <caption className="small quiet">{caption}</caption>}
      <thead>
        <tr>
          <th scope="col">{t('line')}</th>
          <th scope="col" className="right">
            {t('vCPUs')}
          </th>
          <th scope="col" className="right">
            {t('for each {name}', { name: lesson.operation.name })}
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={`${line.address} ${line.line}`}>
            <td>{lineWords(line)}</td>
            <td className="right">{line.vcpus}</td>
            <td className="right">{sumWords(line)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function lineWords(line: BusyLine): string {
  if (line.line >= 0) return t('line {line}, {field}', { line: line.line, field: line.field });
  if (isStack(line)) return t('usually a stack');
  return `…${line.address.toString(16).slice(-8)}`;
}

function lossWords({ lost, over, exact, ops }: Totals, { operation }: Lesson): string {
  const how = exact
    ? t(
        'These counts over {ops} {plural} are exact: they do not depend on how the host ran the CPUs.',
        {
          ops: formatCount(ops),
          plural: operation.plural,
        },
      )
    : t(
        'These numbers come from the accesses that have been reported individually so far. The numbers are exact once the run has ended.',
      );
  const shown =
    lost > 0 ? t(' {n} accesses were counted but not reported.', { n: formatCount(lost) }) : '';
  const more =
    over > 0 ? t(' {n} accesses came after the log was full.', { n: formatCount(over) }) : '';
  return `${how}${shown}${more}`;
}

export function CountedPanel({ runIndex, lesson }: PanelProps) {
  const lanes = runIndex.lanes.flatMap((lane): LaneProps[] => {
    const totals = totalsOf(lane);
    return totals === null ? [] : [{ lane, totals, lesson, title: titleOf(lesson, lane) }];
  });
  if (lanes.length === 0)
    return runIndex.lanes.map((lane) => (
      <p key={lane.arm} className="small quiet" data-testid={`refused-${lane.arm}`}>
        {titleOf(lesson, lane)}: {noCounts(lane, lesson)}
      </p>
    ));
  return (
    <>
      <LineTable runIndex={runIndex} lesson={lesson} />
      {lanes.map((one) => (
        <CellTable key={one.lane.arm} {...one} />
      ))}
      <p className="small quiet">
        {t('r: reads, w: writes, rmw: read-modify-writes. {losses}', {
          losses: lossWords(lanes[0]!.totals, lesson),
        })}
      </p>
      {lanes.map((one) => (
        <BusyLines key={one.lane.arm} {...one} />
      ))}
    </>
  );
}

function titleOf(lesson: Lesson, lane: LaneIndex): string {
  return armTitle(lesson, lane);
}

// Panel of operations under the lock, by phase, with the reason why the lock stays taken, or why it does not.

export interface PhaseRow {
  readonly phase: string;
  readonly slow: string;
  readonly rate: string;
  readonly retries: string;
}

export function phaseRows(lane: LaneIndex, index: RunIndex): PhaseRow[] {
  const intervals = intervalsOf(lane);
  return phasesOf(index).map(({ name, t0, t1 }) => {
    if (!lane.ended && lane.watermark < t1)
      return { phase: phaseWords[name], slow: stillRead, rate: stillRead, retries: stillRead };
    const share = shareIn(intervals, t0, t1);
    const rate = rateOf(share);
    const [percent, per] = phaseFigures(lane, name, true, slowShare(share), rate);
    return {
      phase: phaseWords[name],
      slow: percent,
      rate: per,
      retries: rate === null ? '–' : formatCount(share.retries),
    };
  });
}

/** Reasons why a lock that was taken once stays taken. */
const feeds = [
  t('A task holds the lock of the lockref, even if only for an instant.'),
  t(
    'The next task finds the word locked. This task cannot use compare-and-swap, so it takes the lock as well.',
  ),
  t(
    'While this task waits for the lock or holds the lock, another task arrives and also finds the word locked.',
  ),
  t(
    'Compare-and-swap works again only when an operation finds no earlier operation at the lock. As long as operations arrive faster than the lock is handed on, there is always an earlier operation.',
  ),
];

/** Reasons why the lock does not stay taken if tasks do not queue. */
const recovers = [
  t('A task holds the lock of the lockref, even if only for an instant.'),
  t(
    'The next task finds the word locked. This task cannot use compare-and-swap, so it tries to take the lock as well.',
  ),
  t('The tasks do not queue, so the lock is free until a task runs and tries again.'),
  t(
    'An operation that arrives while the lock is free can use compare-and-swap. So the tasks take the lock only as long as the listing lasts.',
  ),
];

/**
 * Choose the explanation that fits the run. If at least half of the operations after the listing take the lock, the
 * lock stays taken.
 */
export function stepsOf(lane: LaneIndex, index: RunIndex): readonly string[] {
  const after = phasesOf(index).find(({ name }) => name === 'after');
  if (after === undefined) return feeds;
  const slow = slowShare(shareIn(intervalsOf(lane), after.t0, after.t1));
  return slow !== null && slow < 0.5 ? recovers : feeds;
}

function PathPanel({ runIndex, lesson }: PanelProps) {
  return (
    <>
      {runIndex.lanes.map((lane) => (
        <table key={lane.arm} className="table small" data-testid={`path-${lane.arm}`}>
          <caption className="small quiet">
            {t('{name}, whole phases', { name: armTitle(lesson, lane) })}
          </caption>
          <thead>
            <tr>
              <th scope="col">{t('phase')}</th>
              <th scope="col" className="right">
                {t('under the lock')}
              </th>
              <th scope="col" className="right">
                {t('per second')}
              </th>
            </tr>
          </thead>
          <tbody>
            {phaseRows(lane, runIndex).map(({ phase, slow, rate, retries }) => (
              <tr key={phase} title={t('failed compare-and-swaps: {retries}', { retries })}>
                <th scope="row">{phase}</th>
                <td className="right">{slow}</td>
                <td className="right">{rate}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
      {runIndex.lanes.map((lane) => {
        const words = lane.ended ? burstWords(lane, runIndex).trim() : '';
        return (
          words && (
            <p key={lane.arm} className="small" data-testid={`burst-${lane.arm}`}>
              {words}
            </p>
          )
        );
      })}
      <ol className="small">
        {(runIndex.lanes[0] ? stepsOf(runIndex.lanes[0], runIndex) : feeds).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p className="small quiet">
        {t(
          'The rates come from a traced run on vCPUs that share the host, so read the share, not the rate.',
        )}
      </p>
    </>
  );
}

export const panels: Readonly<Record<string, Panel>> = {
  counted: { title: t('Accesses of one operation'), evidence: 'counted', Body: CountedPanel },
  model: { title: t('Two to 64 CPUs'), evidence: 'modelled', Body: ModelPanel },
  path: { title: t('By swap or under the lock'), evidence: 'counted', Body: PathPanel },
  retries: curvePanel('retries', t('Failed swaps for each stat, by the number of CPUs')),
};
