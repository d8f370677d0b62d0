// SPDX-License-Identifier: GPL-2.0-or-later
/** An interactive timeline: rows with marks that a viewer can drag. It works without a run and starts none. */

import { scaleLinear } from 'd3-scale';
import { type KeyboardEvent, type PointerEvent, useId, useReducer, useRef } from 'react';
import { t } from '../base/lang/t.ts';
import { formatNs } from '../base/units.ts';
import { ToyShell, useWidth } from './shell.tsx';
import {
  begin,
  changed,
  type Face,
  type Guide,
  type Item,
  nextStop,
  type Play,
  type Row,
  type Setting,
  snapMoment,
  type Times,
  type Toy,
  type ToyAction,
  type ToyState,
} from './types.ts';

// Grips with which the viewer moves marks by pointer, touch or keyboard. Each grip is a slider whose value is a time.

interface GripProps {
  readonly toy: Toy;
  readonly times: Times;
  readonly setting: Setting;
  readonly play: Play;
  readonly item: Item;
  /** Converts the pointer's x to a moment, ns. */
  readonly where: (clientX: number) => number;
  readonly x: number;
  /** The x at which a bar ends, px; null if the mark is an instant. */
  readonly to: number | null;
  /** Horizontal distance from the mark to its grip, px. */
  readonly shift: number;
  readonly y: number;
  /** Text size, px. */
  readonly size: number;
  readonly onAct: (action: ToyAction) => void;
}

/** A pointer snaps to the middle between two moments if they are closer than this, px. */
const catchPx = 12;

/** Number of steps by which Page Up and Page Down move a grip. */
const far = 5;

function Grip(props: GripProps) {
  const { toy, times, setting, play, item, where, x, to, shift, y, size, onAct } = props;
  const name = item.handle ?? '';
  const at = setting.at[name] ?? 0;
  const held = useRef<number | null>(null);
  const { min, max } = toy.limits(times, setting, name);
  const move = (t: number) => onAct({ do: 'move', handle: name, to: t });
  const down = (event: PointerEvent<SVGGElement>) => {
    if (event.button !== 0) return;
    held.current = where(event.clientX) - at;
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.focus();
    event.preventDefault();
  };
  const drag = (event: PointerEvent<SVGGElement>) => {
    if (held.current === null) return;
    const reach = where(event.clientX + catchPx) - where(event.clientX);
    move(snapMoment(play, name, where(event.clientX) - held.current, reach));
  };
  const drop = () => {
    held.current = null;
  };
  const press = (event: KeyboardEvent<SVGGElement>) => {
    const target = keyTarget(event.key, (direction) => nextStop(play, times, name, at, direction), {
      at,
      min,
      max,
      step: (far * times.span) / 60,
    });
    if (target === null) return;
    event.preventDefault();
    event.stopPropagation();
    move(target);
  };
  const title = toy.handles.find((handle) => handle.name === name)?.title ?? name;
  const middle = to === null ? x + shift : (x + to) / 2;
  return (
    <g
      className="toy-grip"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-valuemin={Math.round(min)}
      aria-valuemax={Math.round(max)}
      aria-valuenow={Math.round(at)}
      aria-valuetext={t('at {at}: {says}', {
        at: formatNs(Math.round(at)),
        says: play.says[name] ?? '',
      })}
      aria-orientation="horizontal"
      data-testid={`grip-${name}`}
      onPointerDown={down}
      onPointerMove={drag}
      onPointerUp={drop}
      onPointerCancel={drop}
      onLostPointerCapture={drop}
      onKeyDown={press}
    >
      <Knob middle={middle} y={y} reach={to === null ? 0 : to - x} size={size} />
    </g>
  );
}

interface Reach {
  readonly at: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

function keyTarget(
  key: string,
  stop: (direction: 1 | -1) => number,
  { at, min, max, step }: Reach,
): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return stop(1);
    case 'ArrowLeft':
    case 'ArrowDown':
      return stop(-1);
    case 'PageUp':
      return at + step;
    case 'PageDown':
      return at - step;
    case 'Home':
      return min;
    case 'End':
      return max;
    default:
      return null;
  }
}

interface KnobProps {
  readonly middle: number;
  readonly y: number;
  /** Width of the bar if the grip moves a complete bar, px; 0 for an instant. */
  readonly reach: number;
  readonly size: number;
}

/** A grip's touch target, drawn as a disc with two arrows. It is 44 px high, and 44 px wide for an instant. */
function Knob({ middle, y, reach: wide, size }: KnobProps) {
  const r = size * 0.72;
  const reach = wide > 0 ? Math.max(2 * r, wide) : 44;
  const arrow = (side: 1 | -1) => {
    const [tip, back] = [middle + side * (r - 2.5), middle + side * (r * 0.25)];
    const wing = r * 0.42;
    return `M${back},${y - wing}L${tip},${y}L${back},${y + wing}Z`;
  };
  return (
    <>
      <rect className="toy-reach" x={middle - reach / 2} y={y - 22} width={reach} height={44} />
      <circle className="toy-focus" cx={middle} cy={y} r={r + 4} />
      <circle className="toy-knob" cx={middle} cy={y} r={r} />
      <path className="toy-arrows" d={`${arrow(-1)}${arrow(1)}`} />
    </>
  );
}

// Layout of the rule: its rows, its scale, and labels that do not overlap. Pure.

export interface LaidLabel {
  readonly item: Item;
  readonly text: string;
  /** Left end and baseline of the label's text, px. */
  readonly x: number;
  readonly y: number;
  /** The x of the mark to which the label belongs, px. */
  readonly anchor: number;
  /** Whether the label is inside its bar. */
  readonly inside: boolean;
}

interface LaidRow {
  readonly row: Row;
  readonly top: number;
  readonly height: number;
  /** The y of the centre of bars and dots, px. */
  readonly middle: number;
  readonly titleX: number;
  readonly titleY: number;
  /** The row's result, divided into lines that fit. */
  readonly verdict: readonly string[];
  readonly labels: readonly LaidLabel[];
}

interface LaidToy {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly font: number;
  readonly rows: readonly LaidRow[];
  readonly guides: readonly {
    readonly x: number;
    readonly guide: Guide;
    readonly shown: boolean;
  }[];
  readonly axisY: number;
  readonly x: (t: number) => number;
  /** Converts an x on the canvas to a moment, ns. */
  readonly t: (x: number) => number;
}

/** Height of a bar, or of a dot with its grip, px at 13 px text. */
const bar = 22;
/** Width below which each title is above its row, px. */
const narrow = 640;

/** Estimate the width of a text, because the layout needs it before the text is drawn. */
export function textWidth(text: string, font: number, code: boolean): number {
  return text.length * font * (code ? 0.62 : 0.54);
}

export function layToy(
  rows: readonly Row[],
  guides: readonly Guide[],
  span: number,
  width: number,
  font: number,
): LaidToy {
  const scale = font / 13;
  const above = width < narrow * scale;
  const titles = Math.max(...rows.map((row) => textWidth(row.title, font * 1.08, false)), 0);
  const left = above ? 14 : Math.min(width * 0.26, titles + 22);
  const right = width - 16;
  const x = (t: number) => left + (t / span) * (right - left);
  const line = font * 1.45;
  let top = guides.some((guide) => guide.label) ? line + 4 : 6;
  const laid = rows.map((row) => {
    const placed = placeLabels(row, x, font, right);
    const titleHeight = above ? line : 0;
    const verdict = wrapped(row.verdict ?? '', right - left, font);
    const half = (bar * scale) / 2 + 3;
    const middle = top + titleHeight + placed.levels * line + half + 2;
    const height = middle + half + verdict.length * line + 6 * scale - top;
    const labels = placed.labels.map((label) => ({
      ...label,
      y: label.inside ? middle + font * 0.35 : middle - half - 4 - label.level * line - font * 0.15,
    }));
    const titleY = above ? top + font : middle + font * 0.35;
    const place = { titleX: above ? left : 0, titleY, verdict };
    const one: LaidRow = { row, top, height, middle, labels, ...place };
    top += height;
    return one;
  });
  let free = Number.NEGATIVE_INFINITY;
  const marks = guides.map((guide) => {
    const at = x(guide.at);
    const shown = Boolean(guide.label) && at > free;
    if (shown) free = at + textWidth(guide.label ?? '', font, false) + 8;
    return { x: at, guide, shown };
  });
  const t = (px: number) => ((px - left) / (right - left)) * span;
  const height = top + line + 10;
  return { width, height, left, right, font, rows: laid, guides: marks, axisY: top + 4, x, t };
}

/** Divide a text into lines of at most `width` px. */
export function wrapped(text: string, width: number, font: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, font, false) <= width)
      lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

interface Flag extends Omit<LaidLabel, 'y'> {
  readonly level: number;
  readonly end: number;
}

/**
 * Place labels like flags. Each label is to the right of a line that rises from its mark, at the lowest level without
 * overlaps. A label is usually higher than labels to its right, so that no line crosses a text. A label that fits into
 * its bar is placed inside the bar.
 */
function placeLabels(row: Row, x: (t: number) => number, font: number, right: number) {
  const flags: Flag[] = [];
  const inside: Flag[] = [];
  for (const item of row.items.toSorted((a, b) => startOf(b) - startOf(a))) {
    if (!item.label) continue;
    const code = item.kind === 'step' && item.code === true;
    const wide = textWidth(item.label, font, code);
    const from = x(startOf(item));
    const room = item.kind === 'stretch' ? x(item.to) - from : 0;
    const text = item.label;
    if (item.kind === 'stretch' && room > wide + (item.handle ? 44 + wide : 12)) {
      const at = item.handle ? from + 10 : from + (room - wide) / 2;
      inside.push({ item, text, x: at, anchor: from, inside: true, level: 0, end: at + wide });
      continue;
    }
    if (item.kind === 'stretch' && item.terse) continue;
    const anchor = item.kind === 'step' ? from : (from + x(item.to)) / 2;
    const at = Math.max(2, Math.min(anchor + 4, right + 14 - wide));
    const level = freeLevel(flags, at, at + wide);
    flags.push({ item, text, x: at, anchor, inside: false, level, end: at + wide });
  }
  const levels = 1 + Math.max(-1, ...flags.map((flag) => flag.level));
  return { labels: [...flags, ...inside], levels };
}

/** The lowest level at which a label overlaps neither other labels nor their lines. */
function freeLevel(flags: readonly Flag[], from: number, to: number): number {
  for (let level = 0; ; level++) {
    const hit = flags.some((flag) =>
      flag.level === level
        ? from < flag.end + 6 && Math.min(flag.x, flag.anchor) < to + 6
        : flag.level > level && flag.anchor > from - 3 && flag.anchor < to + 3,
    );
    if (!hit) return level;
  }
}

function startOf(item: Item): number {
  return item.kind === 'step' ? item.at : item.from;
}

// A row of the picture: bars and marks with their labels, and the row's result.

/** Faces that can be hatched. The picture has a pattern for each of these faces. */
const hatched: readonly Face[] = ['wait', 'hazard', 'mechanism', 'other'];

interface RowProps {
  readonly laid: LaidToy;
  readonly row: LaidRow;
  readonly hatch: string;
}

function RowPicture({
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
  const place = { x, y: middle - half, width: Math.max(1, to - x), height: 2 * half, rx: 3 };
  return (
    <>
      {/* The row's line is interrupted at bars, so that it does not run through their text. */}
      <rect {...place} className="toy-ground" />
      <rect
        {...place}
        style={{ fill, stroke: colour, fillOpacity: item.look === 'solid' ? 0.24 : 0.75 }}
        strokeWidth={1.5}
        strokeDasharray={item.look === 'hollow' ? '4 3' : undefined}
      />
    </>
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

// The picture: rows on a common time axis, with grips on the marks that the viewer can move.

interface ToyFigureProps {
  readonly toy: Toy;
  readonly times: Times;
  readonly setting: Setting;
  readonly play: Play;
  readonly font: number;
  readonly onAct: (action: ToyAction) => void;
}

function ToyFigure({ toy, times, setting, play, font, onAct }: ToyFigureProps) {
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

interface ToyFrameProps {
  readonly toy: Toy;
  readonly times: Times;
  /** Name of the run that provides the times, such as "the recording x"; empty without a run. */
  readonly run: string;
  /** Text size in the picture, px. */
  readonly font?: number;
}

export function ToyFrame({ toy, times, run, font = 13 }: ToyFrameProps) {
  const [state, act] = useReducer(
    (now: ToyState, action: ToyAction) => changed(toy, times, now, action),
    null,
    () => begin(toy, times),
  );
  const play = toy.play(times, state.setting);
  return (
    <ToyShell
      title={toy.title}
      ask={toy.ask}
      outcome={play.outcome}
      goals={toy.goals.map(({ can, ...goal }) => ({ ...goal, can: () => can(times) }))}
      now={play.reached}
      reached={state.reached}
      source={`${sourceWords(times, run)} ${toy.leavesOut}`}
      onReset={() => act({ do: 'reset' })}
    >
      {toy.switches.length > 0 && (
        <fieldset className="toy-switches" aria-label={t('What the code does')}>
          {toy.switches.map(({ name, title }) => (
            <label key={name} className="toy-switch">
              <input
                type="checkbox"
                checked={state.setting.on[name] ?? false}
                onChange={() => act({ do: 'turn', name })}
                data-testid={`switch-${name}`}
              />
              {title}
            </label>
          ))}
        </fieldset>
      )}
      <ToyFigure {...{ toy, times, play, font }} setting={state.setting} onAct={act} />
    </ToyShell>
  );
}

/** A sentence that says where the times come from. */
export function sourceWords(times: Times, run: string): string {
  if (times.from === null || run === '') {
    return t('No run on this page has these steps, so the distances are made up, not measured.');
  }
  return t('Distances from {run}: {from}. The positions that you set did not occur in that run.', {
    run,
    from: times.from,
  });
}
