// SPDX-License-Identifier: GPL-2.0-or-later
/** One row of a toy: its bars and marks, their words as flags, and what comes of it. */

import type { LaidRow, LaidToy } from './layout.ts';
import type { Face, Item } from './types.ts';

/** Faces that may be hatched: the figure has a pattern for each. */
export const hatched: readonly Face[] = ['wait', 'hazard', 'mechanism', 'other'];

interface RowProps {
  readonly laid: LaidToy;
  readonly row: LaidRow;
  readonly hatch: string;
}

export function RowPicture({
  laid,
  row: { row, middle, labels, titleX, titleY, verdict },
  hatch,
}: RowProps) {
  const half = (11 * laid.font) / 13;
  return (
    <g className="toy-row" data-row={row.name}>
      <text className="toy-row-title" x={titleX} y={titleY}>
        {row.title}
      </text>
      {(row.items.length === 0 || row.items.some((item) => item.kind === 'step')) && (
        <line className="toy-line" x1={laid.left} x2={laid.right} y1={middle} y2={middle} />
      )}
      {row.items.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two items may be alike but for their place
        <Mark key={i} {...{ item, laid, middle, half, hatch }} />
      ))}
      {labels.map(
        (label) =>
          !label.inside && (
            <line
              key={`${label.text} ${label.anchor}`}
              className="toy-leader"
              x1={label.anchor}
              x2={label.anchor}
              y1={label.y - laid.font * 0.8}
              y2={middle - half}
            />
          ),
      )}
      {labels.map((label) => (
        <g
          key={`${label.text} ${label.anchor}`}
          data-off={label.item.kind === 'step' && label.item.off ? '' : undefined}
        >
          <text
            className="toy-label"
            data-code={label.item.kind === 'step' && label.item.code ? '' : undefined}
            x={label.x}
            y={label.y}
          >
            {label.text}
          </text>
        </g>
      ))}
      {verdict.map((words, i) => (
        <text
          key={words}
          className="toy-verdict"
          data-face={row.face}
          x={laid.left}
          y={middle + half + laid.font * (1.25 + 1.45 * i)}
        >
          {words}
        </text>
      ))}
    </g>
  );
}

interface MarkProps {
  readonly item: Item;
  readonly laid: LaidToy;
  readonly middle: number;
  readonly half: number;
  readonly hatch: string;
}

function Mark({ item, laid, middle, half, hatch }: MarkProps) {
  const colour = `var(--${item.face})`;
  if (item.kind === 'step') {
    const x = laid.x(item.at);
    return (
      <g data-off={item.off ? '' : undefined}>
        <line
          x1={x}
          x2={x}
          y1={middle - half}
          y2={middle + half}
          style={{ stroke: colour, strokeWidth: 2.5 }}
          strokeDasharray={item.off ? '3 3' : undefined}
        />
        {item.face === 'hazard' && !item.handle && <Cross x={x} y={middle} r={half * 0.55} />}
      </g>
    );
  }
  const [x, to] = [laid.x(item.from), laid.x(item.to)];
  const fill =
    item.look === 'hatched'
      ? hatched.includes(item.face) && to - x >= 6
        ? `url(#${hatch}-${item.face})`
        : colour
      : item.look === 'hollow'
        ? 'none'
        : colour;
  return (
    <rect
      x={x}
      y={middle - half}
      width={Math.max(1, to - x)}
      height={2 * half}
      rx={3}
      style={{ fill, stroke: colour, fillOpacity: item.look === 'solid' ? 0.24 : 0.75 }}
      strokeWidth={1.5}
      strokeDasharray={item.look === 'hollow' ? '4 3' : undefined}
    />
  );
}

function Cross({ x, y, r }: { readonly x: number; readonly y: number; readonly r: number }) {
  return (
    <path
      d={`M${x - r},${y - r}L${x + r},${y + r}M${x - r},${y + r}L${x + r},${y - r}`}
      style={{ stroke: 'var(--hazard)', strokeWidth: 2.5 }}
    />
  );
}
