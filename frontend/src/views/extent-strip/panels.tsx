// SPDX-License-Identifier: GPL-2.0-or-later
/** Beside the stage: freed against visited as a chart, and what an entry costs. */

import { type CSSProperties, useCallback, useEffect, useRef, useState } from 'react';
import { formatCount, formatFigure } from '../../base/units.ts';
import { useLines, useMeasured } from '../../store/hooks.tsx';
import type { Panel, PanelProps } from '../types.ts';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';
import { drawChart } from './chart.ts';
import { perFreed } from './figures.ts';
import { laneNow } from './now.ts';
import { sumsOf } from './scans.ts';
import { listSteps } from './thread.ts';

const chartBox: CSSProperties = { position: 'relative', height: 210 };
const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

function Cumulative({ runIndex, lesson, frame, theme }: PanelProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const draw = useCallback<Draw>(
    (ctx, s) => drawChart(ctx, { index: runIndex, lesson, theme, frame: frame.get(), size: s }),
    [runIndex, lesson, frame, theme],
  );
  useCanvas(canvas, size, draw, frame.subscribe);
  return (
    <div ref={box} style={chartBox}>
      <canvas
        ref={canvas}
        style={fill}
        role="img"
        aria-label="Entries freed against entries visited, a line for each kernel. The counts below tell the same."
      />
    </div>
  );
}

/** What the guest itself says of its slab: "extents: entry_bytes=40 slab_entries=512". */
export function said(lines: readonly { readonly text: string }[], name: string): number | null {
  for (const { text } of lines) {
    const found = text.startsWith('extents: ') && new RegExp(`\\b${name}=(\\d+)`).exec(text);
    if (found) return Number(found[1]);
  }
  return null;
}

const textEveryMs = 200;

/** Something calm to hang text on while the moment runs. */
function useCalm(subscribe: (listener: () => void) => () => void): void {
  const [, again] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = subscribe(() => {
      timer ??= setTimeout(() => {
        timer = null;
        again((n) => n + 1);
      }, textEveryMs);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [subscribe]);
}

function Price(props: PanelProps) {
  useCalm(props.frame.subscribe);
  const { lesson, runIndex } = props;
  const shown = lesson.arms.filter((arm) => runIndex.lanes.some((lane) => lane.arm === arm.name));
  return (
    <>
      <table className="table small" data-testid="price">
        <thead>
          <tr>
            <th scope="col">arm</th>
            <th scope="col" className="right">
              bytes an entry
            </th>
            <th scope="col" className="right">
              list changed
            </th>
            <th scope="col" className="right">
              looks per gain
            </th>
            <th scope="col" className="right">
              a scan
            </th>
          </tr>
        </thead>
        <tbody data-volatile>
          {shown.map((arm) => (
            <PriceRow key={arm.name} {...props} arm={arm.name} title={arm.title} />
          ))}
        </tbody>
      </table>
      <p className="small quiet">
        Bytes are counted by the guest's own slab, the rest by events up to this moment. The time of
        a scan is measured without tracing, where there is a measured table; this run was traced and
        gives none.
      </p>
    </>
  );
}

function PriceRow({
  arm,
  title,
  runIndex,
  frame,
}: PanelProps & { readonly arm: string; readonly title: string }) {
  const bytes = said(useLines(arm), 'entry_bytes');
  const row = useMeasured()?.rows.find((one) => one.arm === arm);
  const lane = runIndex.lanes.find((one) => one.arm === arm);
  if (lane === undefined) return null;
  const told = laneNow({ index: runIndex, frame: frame.get() }, lane);
  const steps = listSteps(lane, told.points);
  const sums = sumsOf(told.facts, 0, told.now.visits);
  const mean = row?.unit === 'us' ? row.ops_per_s_median : null;
  return (
    <tr data-arm={arm}>
      <th scope="row">{title}</th>
      <td className="right">{bytes === null ? '–' : formatCount(bytes)}</td>
      <td className="right">{steps === null ? 'has none' : formatCount(steps)}</td>
      <td className="right">{perFreed(sums)}</td>
      <td className="right">{mean == null ? '–' : `${formatFigure(mean)} µs`}</td>
    </tr>
  );
}

export const panels: Readonly<Record<string, Panel>> = {
  cumulative: { title: 'Freed, against looks', evidence: 'counted', Body: Cumulative },
  price: { title: 'The price beside the gain', evidence: 'counted', Body: Price },
};
