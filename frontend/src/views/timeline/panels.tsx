// SPDX-License-Identifier: GPL-2.0-or-later
/** Panels next to the stage: a breakdown of the window's time, and a table of the marks near the moment. */

import { useCallback, useMemo, useRef } from 'react';
import { t as tr } from '../../base/lang/t.ts';
import { formatNs } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { figure } from '../../derive/figures.ts';
import { opsUpTo, threadRows } from '../../derive/query.ts';
import type { Frame, LaneIndex, Layer, RunIndex } from '../../derive/types.ts';
import { severalOf, shareWords, shortTitle } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { ArmTable } from '../arm-table.tsx';
import type { Counts, Panel, PanelProps, SwatchProps } from '../contract.ts';
import { canvasTiles } from '../paints.ts';
import { type Draw, useCalm, useCanvas } from '../use-canvas.ts';
import { nearbyMarks } from './describe.ts';
import { brushRects, paintOf } from './easel.ts';
import { type Functions, RectList, stylesFor } from './score.ts';
import { pointsIn, tallyKinds, windowOf } from './sentences.ts';

interface Row {
  readonly head: string;
  readonly of: (arm: string) => string;
}

/**
 * One row for each kind that occurs in the window. It shows the kind's share of the threads' time, or its total time
 * and number of calls.
 */
export function timeRows(index: RunIndex, frame: Frame): Row[] {
  const cell = (layer: Layer, kind: number) => (arm: string) => {
    const lane = index.lanes.find((one) => one.arm === arm);
    const window = lane && windowOf(frame, lane);
    if (!lane || !window) return '–';
    const { a, b } = window;
    const tally = tallyKinds(index, lane, layer, a, b).find((one) => one.kind === kind);
    const facts = index.kinds[kind]!;
    if (layer !== 'state') {
      const { n, ns } = tally ?? { n: 0, ns: 0 };
      const calls = figure('window', lane.arm, `calls ${facts.name}`, n);
      if (n === 0) return calls;
      const mean = figure('window', lane.arm, `mean ${facts.name}`, ns / n, formatNs(ns / n));
      return `${calls} × ${mean}`;
    }
    const whole = Math.max(1, threadRows(lane).length) * (b - a);
    return shareWords(lane, facts, (tally?.ns ?? 0) / whole);
  };
  return (['state', 'function', 'track'] as const).flatMap((layer) =>
    kindsIn(index, frame, layer).map((kind) => {
      return { head: shortTitle(index.kinds[kind]!), of: cell(layer, kind) };
    }),
  );
}

/** Kinds of a layer that occur in the window on any lane, in the order of the lesson. */
function kindsIn(index: RunIndex, frame: Frame, layer: Layer): number[] {
  const found = new Set<number>();
  for (const lane of index.lanes) {
    const window = windowOf(frame, lane);
    if (window === null) continue;
    for (const { kind } of tallyKinds(index, lane, layer, window.a, window.b)) found.add(kind);
  }
  return [...found].sort((a, b) => a - b);
}

function Time(props: PanelProps) {
  useCalm(props.frame.subscribe);
  const { lesson, runIndex, frame } = props;
  const shown = lesson.arms.filter((arm) => runIndex.lanes.some((lane) => lane.arm === arm.name));
  return (
    <>
      <ArmTable arms={shown} rows={timeRows(runIndex, frame.get())} testId="time" />
      <p className="small quiet">
        {tr(
          'In this window: shares of the time of {thread}, and the number and mean length of calls and phases.',
          {
            thread: severalOf(lesson.thread),
          },
        )}
      </p>
    </>
  );
}

const rowsShown = 12;

function Marks(props: PanelProps) {
  useCalm(props.frame.subscribe);
  const { lesson, runIndex, frame } = props;
  const now = frame.get();
  const near = nearbyMarks(runIndex, now, lesson)
    .map((row) => ({ row, far: Math.abs(row.t0 - now.moment) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, rowsShown)
    .sort((a, b) => a.row.t0 - b.row.t0);
  return (
    <table className="table small" data-testid="marks">
      <thead>
        <tr>
          <th scope="col" className="right">
            {tr('at')}
          </th>
          <th scope="col">{tr('lane')}</th>
          <th scope="col">{tr('what')}</th>
          <th scope="col" className="right">
            {tr('for')}
          </th>
        </tr>
      </thead>
      <tbody data-volatile>
        {near.map(({ row: { mark, when, lane, row, what, length } }) => (
          <tr key={`${mark.arm} ${mark.table} ${mark.kind} ${mark.row} ${mark.id}`}>
            <td className="right number">{when}</td>
            <td>{row === '' ? lane : `${lane}, ${row}`}</td>
            <td>{what}</td>
            <td className="right number">{length}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const panels: Readonly<Record<string, Panel>> = {
  time: { title: tr('Where the time goes'), evidence: 'counted', Body: Time },
  marks: { title: tr('Marks near the moment'), evidence: 'counted', Body: Marks },
};

/** The number of operations, and of points by name, from the start to the moment. */
export function counts(index: RunIndex, frame: Frame, lesson: Lesson): Counts {
  const { operation, points } = lesson;
  const seen = points.filter((p) => index.lanes.some((lane) => lane.pointsOf(p.name).length > 0));
  const of = (lane: LaneIndex) => {
    const t = laneTime(frame.offset, lane.arm, frame.moment);
    const count = (what: string, n: number) => figure('far', lane.arm, what, n);
    const ops = operation.open === null ? [] : [count('ops', opsUpTo(lane, t))];
    const points = seen.map(({ name }) =>
      count(tr('points {name}', { name }), pointsIn(lane, name, -1e18, t + 1)),
    );
    return [...ops, ...points];
  };
  const titles = seen.map(({ title }) => title.split(/[:;]/)[0]!.trim());
  return {
    heads: operation.open === null ? titles : [operation.plural, ...titles],
    rows: new Map(index.lanes.map((lane) => [lane.arm, of(lane)])),
  };
}

// Sample of a kind for legends, painted with the same brush as the picture.

interface Props extends SwatchProps {
  readonly functions?: Functions;
}

export function KindSwatch({
  kind,
  kinds,
  theme,
  width = 30,
  height = 13,
  functions = 'nested',
}: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const style = stylesFor(kinds, functions)[kinds.findIndex((k) => k.name === kind)];
      ctx.clearRect(0, 0, s.width, s.height);
      if (style === undefined) return;
      const list = new RectList(style);
      const low = style.texture === 'bracket' ? 5 : 1;
      list.push(1, 1, s.width - 2, s.height - 1 - low);
      brushRects(ctx, list, paintOf(style, theme, canvasTiles(s.dpr)));
    },
    [kind, kinds, theme, functions],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}
