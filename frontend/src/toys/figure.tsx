// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture of a toy: rows on one line of time, and grips where something may be moved. */

import { scaleLinear } from 'd3-scale';
import { useId, useRef } from 'react';
import { formatNs } from '../base/units.ts';
import { Grip } from './grip.tsx';
import { type LaidToy, layToy } from './layout.ts';
import { hatched, RowPicture } from './row.tsx';
import type { ToyAction } from './state.ts';
import type { Play, Setting, Times, Toy } from './types.ts';
import { useWidth } from './use-width.ts';

interface Props {
  readonly toy: Toy;
  readonly times: Times;
  readonly setting: Setting;
  readonly play: Play;
  readonly font: number;
  readonly onAct: (action: ToyAction) => void;
}

export function ToyFigure({ toy, times, setting, play, font, onAct }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(box, 720);
  const laid = layToy(play.rows, play.guides ?? [], times.span, width, font);
  const hatch = useId();
  const where = (clientX: number) => {
    const rect = svg.current?.getBoundingClientRect();
    return rect && rect.width > 0 ? laid.t(((clientX - rect.left) / rect.width) * laid.width) : 0;
  };
  return (
    <div className="toy-figure" ref={box}>
      {/* biome-ignore lint/a11y/useSemanticElements: a picture with sliders in it is no fieldset */}
      <svg
        ref={svg}
        role="group"
        width={laid.width}
        height={laid.height}
        viewBox={`0 0 ${laid.width} ${laid.height}`}
        aria-label={toy.title}
        style={{ fontSize: font }}
      >
        <Hatches id={hatch} />
        <Guides laid={laid} />
        {laid.rows.map((row) => (
          <RowPicture key={row.row.name} laid={laid} row={row} hatch={hatch} />
        ))}
        <Axis laid={laid} span={times.span} />
        {laid.rows.flatMap(({ row, middle }) =>
          row.items.flatMap((item) =>
            item.handle
              ? [
                  <Grip
                    key={item.handle}
                    {...{ toy, times, setting, play, item, where, onAct }}
                    x={item.kind === 'step' ? laid.x(item.at) : laid.x(item.from)}
                    to={item.kind === 'step' ? null : laid.x(item.to)}
                    shift={item.kind === 'step' && item.aside ? font * 1.35 : 0}
                    y={middle}
                    size={font}
                  />,
                ]
              : [],
          ),
        )}
      </svg>
    </div>
  );
}

function Hatches({ id }: { readonly id: string }) {
  return (
    <defs>
      {hatched.map((face) => (
        <pattern
          key={face}
          id={`${id}-${face}`}
          width="7"
          height="7"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect width="3" height="7" style={{ fill: `var(--${face})` }} />
        </pattern>
      ))}
    </defs>
  );
}

function Guides({ laid }: { readonly laid: LaidToy }) {
  return laid.guides.map(({ x, guide, shown }) => (
    <g key={guide.at} className="toy-guide">
      <line x1={x} x2={x} y1={laid.font * 1.5} y2={laid.axisY} />
      {shown && (
        <text x={x + 4} y={laid.font}>
          {guide.label}
        </text>
      )}
    </g>
  ));
}

function Axis({ laid, span }: { readonly laid: LaidToy; readonly span: number }) {
  const ticks = scaleLinear([0, span], [laid.left, laid.right]).ticks(
    Math.max(2, Math.min(8, Math.floor((laid.right - laid.left) / (laid.font * 9)))),
  );
  return (
    <g className="toy-axis">
      <line x1={laid.left} x2={laid.right} y1={laid.axisY} y2={laid.axisY} />
      {ticks.map((t) => (
        <g key={t}>
          <line x1={laid.x(t)} x2={laid.x(t)} y1={laid.axisY} y2={laid.axisY + 4} />
          <text
            x={Math.min(laid.x(t), laid.right - 4)}
            y={laid.axisY + 4 + laid.font}
            textAnchor={t === 0 ? 'start' : laid.x(t) > laid.right - 30 ? 'end' : 'middle'}
          >
            {formatNs(t)}
          </text>
        </g>
      ))}
    </g>
  );
}
