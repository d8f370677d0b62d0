// SPDX-License-Identifier: GPL-2.0-or-later
/** Walks a lesson and takes a copy of each slide, three quarters through its window. */

import { type RefObject, useEffect, useRef, useState } from 'react';
import type { LessonModel } from '../use-lesson-page.ts';
import { paperStops, type Stop } from './slides.ts';
import { snapshot } from './snapshot.ts';
import { useStops } from './use-deck.ts';

export interface PaperPage {
  readonly stop: Stop;
  readonly face: HTMLElement;
}

/** Where in a window most has happened, and the next has not begun. */
const share = 0.75;
/** Text follows the moment ten times a second. */
const calmMs = 450;
const pollMs = 60;

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

export function usePages(page: LessonModel, face: RefObject<HTMLElement | null>) {
  const stops = paperStops(useStops(page.lesson));
  const [pages, setPages] = useState<readonly PaperPage[]>([]);
  const latest = useRef({ page, stops });
  latest.current = { page, stops };
  useEffect(() => {
    let off = false;
    const until = async (reached: () => boolean) => {
      while (!off && !reached()) await sleep(pollMs);
    };
    const take = async (stop: Stop): Promise<PaperPage | null> => {
      const now = () => latest.current.page;
      if (now().scene.id !== stop.step) now().step(stop.step, { slide: stop.press });
      else now().go({ slide: stop.press }, 'replace');
      await until(() => now().scene.id === stop.step && (now().place.slide ?? 1) === stop.press);
      await until(() => now().nav.settled && now().nav.whole && !now().nav.awaiting);
      const { playback } = now();
      playback.pause();
      const { start, span } = playback.now();
      playback.look(start, span, start + share * span);
      await until(() => document.documentElement.dataset['idle'] === 'true');
      // A model that is still at work is no picture yet.
      await until(() => face.current?.querySelector('[aria-busy="true"]') === null);
      await sleep(calmMs);
      return off || face.current === null ? null : { stop, face: snapshot(face.current) };
    };
    const takeAll = async () => {
      for (const stop of latest.current.stops) {
        const taken = await take(stop);
        if (taken === null) return;
        setPages((before) => [...before, taken]);
      }
    };
    setPages([]);
    void takeAll();
    return () => {
      off = true;
    };
  }, [face]);
  const stop = stops[pages.length] ?? null;
  return { pages, total: stops.length, stop };
}
