// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer moves: by pointer, by touch, by keys. A slider whose value is a place on the line of time. */

import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { t } from '../base/lang/t.ts';
import { formatNs } from '../base/units.ts';
import { caught, nextStop, type ToyAction } from './state.ts';
import type { Item, Play, Setting, Times, Toy } from './types.ts';

interface Props {
  readonly toy: Toy;
  readonly times: Times;
  readonly setting: Setting;
  readonly play: Play;
  readonly item: Item;
  /** Place of a pointer -> moment. */
  readonly where: (clientX: number) => number;
  readonly x: number;
  /** The right end of something that lasts, px; null: it is a step. */
  readonly to: number | null;
  /** How far beside its place the grip stands, px. */
  readonly shift: number;
  readonly y: number;
  /** Of the text, px. */
  readonly size: number;
  readonly onAct: (action: ToyAction) => void;
}

/** Moments so close together hold a pointer between them, px. */
const catchPx = 12;

/** Keys that go five steps at once. */
const far = 5;

export function Grip(props: Props) {
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
    move(caught(play, name, where(event.clientX) - held.current, reach));
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
  /** Width of what is moved as a whole, px; 0: a step. */
  readonly reach: number;
  readonly size: number;
}

/** 44 px to touch, or as wide as what is moved; a disc with two arrows to see. */
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
