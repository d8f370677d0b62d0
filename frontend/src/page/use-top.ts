// SPDX-License-Identifier: GPL-2.0-or-later
/** A new step opens with its title: its text does not go on where the reader left the step before. */

import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** Where the page scrolls, the title is in view as long as it stands in this share of the window. */
const upper = 0.5;

/** Not `on`: the text moves otherwise (use-reading.ts). */
export function useTop(step: string, on: boolean): RefObject<HTMLElement | null> {
  const story = useRef<HTMLElement>(null);
  const shown = useRef(step);
  useLayoutEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    if (on && story.current) toTop(story.current);
  }, [step, on]);
  useEffect(() => {
    // Else Back and Forward bring back how far the page was scrolled in the step before.
    const before = history.scrollRestoration;
    history.scrollRestoration = 'manual';
    return () => {
      history.scrollRestoration = before;
    };
  }, []);
  return story;
}

function toTop(story: HTMLElement): void {
  const text = story.querySelector('.story-text');
  if (text) text.scrollTop = 0;
  // Who went to the picture of a question goes on with the question.
  const asked = story.querySelector('[data-asking]');
  if (asked) return asked.scrollIntoView({ block: 'nearest' });
  const title = story.querySelector('h2')?.getBoundingClientRect();
  if (title && (title.top < 0 || title.bottom > innerHeight * upper)) story.scrollIntoView();
}
