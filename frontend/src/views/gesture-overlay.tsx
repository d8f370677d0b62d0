// SPDX-License-Identifier: GPL-2.0-or-later
/** Covers a canvas and takes what people do with mouse, wheel and fingers; it is not seen itself. */

import { type SVGProps, useEffect, useRef } from 'react';
import type { Size } from '../derive/types.ts';
import { addTimeBrush, addTimeGestures, type GestureOptions } from './time-gestures.ts';

interface Props extends Omit<SVGProps<SVGSVGElement>, 'ref'> {
  readonly size: Size | null;
  readonly gestures: GestureOptions;
}

export function GestureOverlay({ size, gestures, style, ...events }: Props) {
  const overlay = useRef<SVGSVGElement>(null);
  const group = useRef<SVGGElement>(null);
  const latest = useRef(gestures);
  latest.current = gestures;
  const stable = useRef<GestureOptions>({
    axis: () => latest.current.axis(),
    drags: (event) => latest.current.drags(event),
    onWindow: (start, span) => latest.current.onWindow(start, span),
    onGesture: (busy) => latest.current.onGesture?.(busy),
  }).current;
  useEffect(() => {
    if (overlay.current !== null) return addTimeGestures(overlay.current, stable);
    return undefined;
  }, [stable]);
  const { width = 0, height = 0 } = size ?? {};
  useEffect(() => {
    if (group.current === null || width === 0) return undefined;
    return addTimeBrush(group.current, { width, height }, stable);
  }, [stable, width, height]);
  return (
    <svg
      ref={overlay}
      aria-hidden="true"
      focusable="false"
      data-testid="gestures"
      style={{
        position: 'absolute',
        inset: 0,
        width: '100%',
        height: '100%',
        opacity: 0,
        touchAction: 'pan-y',
        ...style,
      }}
      {...events}
    >
      <g ref={group} />
    </svg>
  );
}
