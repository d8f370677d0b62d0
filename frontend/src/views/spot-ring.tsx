// SPDX-License-Identifier: GPL-2.0-or-later
/** A ring around the mark or the lane that everyone is to look at; it pulses, and stands still where motion is unwanted. */

import { type CSSProperties, useEffect, useLayoutEffect, useRef } from 'react';
import type { FrameSource, Size } from '../derive/types.ts';
import type { Laid, Point, Spotlight } from './contract.ts';

/** Around a mark, and beyond the sides of a lane, px. */
const [radius, outset] = [18, 6];

/** Where the ring is, px; a mark that is out of view has the ring of its lane. */
export function ringOf(
  { lanes }: Laid,
  size: Pick<Size, 'height'>,
  { arm }: Spotlight,
  point: Point | null,
): CSSProperties | null {
  if (point !== null) {
    const box = { left: point.x - radius, top: point.y - radius };
    return { ...box, width: 2 * radius, height: 2 * radius, borderRadius: '50%' };
  }
  const lane = lanes.find((one) => one.arm === arm);
  if (lane === undefined) return null;
  const below = lanes.flatMap(({ top }) => (top > lane.top + 1 ? [top] : []));
  const height = Math.min(size.height, ...below) - lane.top;
  return {
    left: lane.left - outset,
    top: lane.top,
    width: lane.width + 2 * outset,
    height,
    borderRadius: 'var(--radius)',
  };
}

interface Props {
  readonly frame: FrameSource;
  /** As the picture is now. */
  readonly where: () => CSSProperties | null;
}

export function SpotRing({ frame, where }: Props) {
  const ring = useRef<HTMLDivElement>(null);
  const latest = useRef(where);
  latest.current = where;
  useLayoutEffect(() => {
    const put = () => {
      const style = latest.current();
      const element = ring.current;
      if (element === null) return;
      element.hidden = style === null;
      for (const key of ['left', 'top', 'width', 'height'] as const)
        element.style[key] = `${style?.[key] ?? 0}px`;
      element.style.borderRadius = String(style?.borderRadius ?? '');
    };
    put();
    return frame.subscribe(put);
  });
  // Where the picture is out of sight, as on a phone, it comes into it.
  useEffect(() => {
    // What it returns in newer browsers is nothing that React may call.
    ring.current?.scrollIntoView?.({ block: 'nearest' });
  }, []);
  return <div ref={ring} className="spot-ring" aria-hidden="true" data-testid="spot-ring" />;
}
