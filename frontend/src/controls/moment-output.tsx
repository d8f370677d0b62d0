// SPDX-License-Identifier: GPL-2.0-or-later
/** The moment as a readout. It is written in each frame that is painted, as the playhead's own label is. */

import { type OutputHTMLAttributes, useLayoutEffect, useRef } from 'react';
import { momentWords } from '../derive/retime.ts';
import type { Frames } from '../derive/types.ts';
import type { Axis } from '../protocol/lesson.ts';

interface Props extends Omit<OutputHTMLAttributes<HTMLOutputElement>, 'children'> {
  readonly axis: Axis | null;
  readonly frame: Frames;
}

export function MomentOutput({ axis, frame, ...more }: Props) {
  const output = useRef<HTMLOutputElement>(null);
  useLayoutEffect(() => {
    const write = () => {
      const words = momentWords(axis, frame.get().moment);
      if (output.current && output.current.textContent !== words)
        output.current.textContent = words;
    };
    write();
    return frame.subscribe(write);
  }, [axis, frame]);
  // A screen reader reads the sentence when the run stands still; this would interrupt it in every frame.
  return <output ref={output} aria-live="off" data-testid="moment" data-volatile {...more} />;
}
