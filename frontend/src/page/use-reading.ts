// SPDX-License-Identifier: GPL-2.0-or-later
/** Where all steps stand below each other: another step begins at its title, and who scrolls to the text of a step gets that step. */

import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { reached } from './reading.ts';

/** A text is read when scrolling has rested for so long: who scrolls past steps opens none of them. */
const restMs = 140;
/** Where the eyes are, as a share of the window's height. */
const eyes = 0.4;
/** A page that moves so long after a wheel, a finger or a key was moved by something else. */
const intendedMs = 1200;

interface Reading {
  readonly on: boolean;
  /** The step on the stage. */
  readonly now: string;
  /** Scrolling moves nobody: his own live run goes on, or he changes a patch. */
  readonly fixed: boolean;
  readonly onReach: (id: string) => void;
}

/** For the element that holds the texts of the steps, each with `data-step`. */
export function useReading(
  box: RefObject<HTMLElement | null>,
  { on, now, fixed, onReach }: Reading,
): void {
  const latest = useRef({ now, fixed, onReach });
  latest.current = { now, fixed, onReach };
  /** The step that was scrolled to, and where its text stood: it stays there. */
  const led = useRef<{ readonly id: string; readonly top: number } | null>(null);

  useLayoutEffect(() => {
    const text = textOf(box.current, now);
    const from = led.current;
    led.current = null;
    if (!on || text === null) return;
    // Who went to the picture of a question goes on with the question.
    const asked = text.querySelector('[data-asking]');
    if (from?.id === now) scrollBy(0, text.getBoundingClientRect().top - from.top);
    else if (asked) asked.scrollIntoView({ block: 'center' });
    else text.scrollIntoView({ block: 'start' });
  }, [box, on, now]);

  useEffect(() => {
    if (!on) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let held = false;
    /** The page was moved while something was held. */
    let late = false;
    const look = () => {
      const { now: here, fixed: still, onReach: reach } = latest.current;
      const id = reached(textsOf(box.current), innerHeight * eyes);
      late = held;
      if (still || held || id === null || id === here) return;
      const top = textOf(box.current, id)?.getBoundingClientRect().top ?? 0;
      led.current = { id, top };
      reach(id);
    };
    /** When the viewer last moved the page, as far as events say; a page goes on by itself once it is thrown. */
    let moved = Number.NEGATIVE_INFINITY;
    const intend = (event: Event) => {
      // A key that means something here is no key to scroll by.
      if (!event.defaultPrevented || event.type === 'wheel') moved = event.timeStamp;
    };
    const scrolled = ({ timeStamp }: Event) => {
      if (timeStamp - moved > intendedMs) return;
      moved = timeStamp;
      clearTimeout(timer);
      timer = setTimeout(look, restMs);
    };
    /** Somebody drags in the picture or in the run: it stays under his hand. */
    const press = (event: PointerEvent) => {
      const { target } = event;
      held = target instanceof Element && target.closest('.lanes, .transport') !== null;
      // A scrollbar is part of the page as a whole.
      if (target === document.documentElement) intend(event);
    };
    const release = () => {
      held = false;
      if (late) look();
    };
    // A button that is let go of outside the window, or over a scrollbar, is not reported.
    const move = ({ buttons }: PointerEvent) => {
      if (buttons === 0) release();
    };
    const moves = ['wheel', 'touchmove', 'keydown'] as const;
    for (const name of moves) addEventListener(name, intend, { passive: true });
    addEventListener('scroll', scrolled, { passive: true });
    addEventListener('pointerdown', press, true);
    addEventListener('pointermove', move, true);
    addEventListener('pointerup', release, true);
    addEventListener('pointercancel', release, true);
    return () => {
      clearTimeout(timer);
      for (const name of moves) removeEventListener(name, intend);
      removeEventListener('scroll', scrolled);
      removeEventListener('pointerdown', press, true);
      removeEventListener('pointermove', move, true);
      removeEventListener('pointerup', release, true);
      removeEventListener('pointercancel', release, true);
    };
  }, [box, on]);
}

function textsOf(box: HTMLElement | null): { id: string; top: number }[] {
  return [...(box?.querySelectorAll<HTMLElement>('[data-step]') ?? [])].map((text) => ({
    id: text.dataset['step'] ?? '',
    top: text.getBoundingClientRect().top,
  }));
}

function textOf(box: HTMLElement | null, id: string): HTMLElement | null {
  return box?.querySelector<HTMLElement>(`[data-step="${id}"]`) ?? null;
}
