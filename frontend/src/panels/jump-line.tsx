// SPDX-License-Identifier: GPL-2.0-or-later
/** What is where a jump has led, in one sentence over the lanes, until something else is done. */

import { useEffect, useRef } from 'react';
import { jumpWords } from '../derive/jumps.ts';
import type { RunIndex } from '../derive/types.ts';
import { usePlayback } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { viewOf } from '../views/registry.ts';

interface Props {
  readonly lesson: Lesson;
  readonly index: RunIndex | null;
  /** Why it is not said in what lanes differ; empty: it is. */
  readonly withheld?: string;
}

export function JumpLine({ lesson, index, withheld = '' }: Props) {
  const { state, frame } = usePlayback();
  const { jumped } = state;
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (jumped !== null && line.current) bring(line.current);
  }, [jumped]);
  if (jumped === null || index === null) return null;
  const hidden = jumped.what === 'divergence' ? withheld : '';
  return (
    <p ref={line} className="stage-unseen" role="status" data-testid="jump-words">
      {hidden ||
        jumpWords(
          jumped.what,
          jumped.from,
          index,
          frame.get(),
          lesson,
          viewOf(lesson.view).entryWords,
        )}
    </p>
  );
}

/** Where the page scrolls, the button is in view and the picture need not be. */
function bring(line: HTMLElement): void {
  line.scrollIntoView?.({ block: 'nearest' });
  const foot = document.querySelector('.transport')?.getBoundingClientRect().top ?? innerHeight;
  if (line.getBoundingClientRect().bottom > foot) line.scrollIntoView?.({ block: 'start' });
}
