// SPDX-License-Identifier: GPL-2.0-or-later
/** What a picture writes and outlines changes together with the page's text, and not in between. */

import { useCallback, useRef } from 'react';
import type { Frame, FrameSource, RunIndex } from '../derive/types.ts';

export type Spoken = Pick<Frame, 'spoken' | 'regions'>;

export interface Calm {
  /** See holding; null: every figure is of its own moment. */
  readonly figures: Map<string, string> | null;
  readonly spoken: Spoken;
}

interface Held extends Calm {
  readonly text: Frame;
  readonly index: RunIndex;
}

/** `spokenAt`: what the sentence speaks of in a frame. */
export function useCalmFigures(
  index: RunIndex,
  spokenAt: (frame: Frame) => Spoken,
): (frames: FrameSource) => Calm {
  const held = useRef<Held | null>(null);
  return useCallback(
    ({ get, text }) => {
      if (text === undefined) return { figures: null, spoken: spokenAt(get()) };
      const [at, now] = [text.get(), get()];
      // More data come while the moment moves, too: the text that stands is of those that there were.
      const rests = at.moment === now.moment && at.start === now.start;
      if (held.current?.text !== at || (rests && held.current.index !== index))
        held.current = { text: at, index, figures: new Map(), spoken: spokenAt(at) };
      return held.current;
    },
    [index, spokenAt],
  );
}
