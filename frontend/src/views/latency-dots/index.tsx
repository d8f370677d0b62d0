// SPDX-License-Identifier: GPL-2.0-or-later
/** How long each operation took, per lane, up to the moment. Counted in guest time; never a verdict. */

import { type CSSProperties, useCallback, useMemo, useRef } from 'react';
import { t as tr } from '../../base/lang/t.ts';
import { formatCount, formatNs } from '../../base/units.ts';
import { latenciesOf } from '../../derive/latency.ts';
import type { CanvasProps } from '../contract.ts';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';
import { drawDots } from './draw.ts';
import { layoutDots, preferredHeight } from './layout.ts';

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

export { preferredHeight };

export function LatencyDots({
  runIndex,
  lesson,
  frame,
  theme,
}: Pick<CanvasProps, 'runIndex' | 'lesson' | 'frame' | 'theme'>) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const titleOf = useMemo(() => {
    const titles = new Map(lesson.arms.map((arm) => [arm.name, arm.title]));
    return (arm: string) => titles.get(arm) ?? arm;
  }, [lesson]);
  // Dots gather slowly: as often as text is enough, and then they say what the text says.
  const shown = frame.text ?? frame;
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const now = shown.get();
      drawDots(ctx, layoutDots(runIndex, now, s, titleOf), theme, s.width, s.height);
    },
    [runIndex, shown, theme, titleOf],
  );
  useCanvas(canvas, size, draw, shown.subscribe);
  const words = runIndex.lanes
    .map((lane) => {
      const { n, mean, median, p95 } = latenciesOf(lane, lane.watermark, 1);
      const what = `${formatCount(n)} ${lesson.operation.plural}`;
      return `${titleOf(lane.arm)}: ${what}${n > 0 ? tr(', mean {mean}, median {median}, 95 % within {p95}', { mean: formatNs(mean), median: formatNs(median), p95: formatNs(p95) }) : ''}`;
    })
    .join('. ');
  return (
    <div
      ref={box}
      style={{ position: 'relative', height: preferredHeight(runIndex.lanes.length) }}
      role="img"
      aria-label={tr('Length of each {name}, guest time, logarithmic. {words}.', {
        name: lesson.operation.name,
        words,
      })}
    >
      <canvas ref={canvas} style={fill} />
    </div>
  );
}
