// SPDX-License-Identifier: GPL-2.0-or-later
/** All slides for print or PDF: one slide per page, with the step's text below it. */

import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { t } from '../../base/lang/t.ts';
import { sceneOf } from '../../navigation/navigation.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { Markdown } from '../../ui/markdown.tsx';
import { off } from '../../ui/parts.tsx';
import { showTheme } from '../../ui/theme.ts';
import type { LessonModel } from '../use-lesson-page.ts';
import { SlideFace, sheet } from './deck-page.tsx';
import { paperSay, paperStops, type Stop } from './slides.ts';
import { useStops } from './use-deck.ts';
import './deck.css';
import './handout.css';

// Scales text for print: the text is laid out in a narrower column and scaled up until it fills its box.

const largest = 2.2;
/** Minimum scale; small text is better than truncated text. */
const smallest = 0.7;
const step = 0.05;

/**
 * The largest scale at which the content fits the box. `heightAt` returns the content's height at a layout width, px.
 */
export function scaleToFill(
  box: { readonly width: number; readonly height: number },
  heightAt: (width: number) => number,
): number {
  for (let n = Math.round(largest / step); n > Math.round(smallest / step); n--) {
    const scale = n * step;
    if (heightAt(box.width / scale) * scale <= box.height) return scale;
  }
  return smallest;
}

function Fit({ children }: { readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (outer === null || inner === null) return undefined;
    const fill = () => {
      const { clientWidth: width, clientHeight: height } = outer;
      if (width === 0 || height === 0) return;
      const scale = scaleToFill({ width, height }, (at) => {
        inner.style.width = `${Math.floor(at)}px`;
        return inner.offsetHeight;
      });
      inner.style.width = `${Math.floor(width / scale)}px`;
      inner.style.transform = `scale(${scale})`;
    };
    const observer = new ResizeObserver(fill);
    observer.observe(outer);
    observer.observe(inner);
    fill();
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className="fit">
      <div ref={content} className="fit-content">
        {children}
      </div>
    </div>
  );
}

// A snapshot of a slide for print: text stays text, and canvases become images.

/** Return an inert copy of an element. The element's canvases must already be drawn. */
function snapshot(of: HTMLElement): HTMLElement {
  const copy = of.cloneNode(true) as HTMLElement;
  const drawn = [...of.querySelectorAll('canvas')];
  for (const [i, empty] of [...copy.querySelectorAll('canvas')].entries()) {
    const image = document.createElement('img');
    image.src = drawn[i]?.toDataURL('image/png') ?? '';
    image.alt = '';
    image.style.cssText = empty.style.cssText;
    image.className = empty.className;
    empty.replaceWith(image);
  }
  for (const element of [copy, ...copy.querySelectorAll<HTMLElement>('*')]) {
    element.removeAttribute('data-testid');
    element.removeAttribute('id');
  }
  copy.inert = true;
  return copy;
}

// Visits every slide of a lesson and takes a snapshot of it.
// A slide's snapshot shows the moment at three quarters of the slide's time window.

interface PaperPage {
  readonly stop: Stop;
  readonly face: HTMLElement;
}

/**
 * Position of a snapshot's moment, as a share of the slide's time window. By then most events of the window have
 * happened.
 */
const share = 0.75;
/** Time until the text shows the same moment as the picture, ms. */
const calmMs = 450;
const pollMs = 60;

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

function usePages(page: LessonModel, face: RefObject<HTMLElement | null>) {
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
      // While a model is computing, there is no picture to copy.
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

export function HandoutPage({ page }: { readonly page: LessonModel }) {
  const { lesson, go } = page;
  const face = useRef<HTMLDivElement>(null);
  const { pages, total, stop } = usePages(page, face);
  useEffect(() => showTheme('light'), []);
  const whole = stop === null;
  return (
    <div className="handout" data-whole={whole ? '' : undefined} data-testid="handout">
      <header className="handout-bar">
        <h1>{lesson.question}</h1>
        <p role="status">
          {whole
            ? t('{total} pages', { total })
            : t('Page {pages} of {total} is being made…', { pages: pages.length + 1, total })}
        </p>
        <button
          type="button"
          className="button"
          data-strong
          onClick={() => print()}
          {...off(!whole && t('Not all pages are ready yet.'))}
        >
          {t('print, or save as PDF')}
        </button>
        <button type="button" className="button" onClick={() => go({ present: null, slide: null })}>
          {t('to the lesson')}
        </button>
      </header>
      {pages.map((one) => (
        <Paper key={one.stop.number} lesson={lesson} page={one} total={total} />
      ))}
      {stop !== null && (
        <div className="handout-making" aria-hidden="true">
          <div ref={face} className="lesson deck" data-present style={sheet}>
            <SlideFace
              page={page}
              paper
              stop={{ ...stop, ...(page.scene.id === stop.step ? {} : blank) }}
            />
          </div>
        </div>
      )}
    </div>
  );
}

/** An empty slide that is shown while the next step loads. */
const blank = { slide: { kind: 'evidence', parts: [] } } as const;

interface PaperProps {
  readonly lesson: Lesson;
  readonly page: PaperPage;
  readonly total: number;
}

function Paper({ lesson, page: { stop, face }, total }: PaperProps) {
  const put = useCallback((box: HTMLElement | null) => box?.replaceChildren(face), [face]);
  const say = paperSay(lesson, sceneOf(lesson, stop.step), stop);
  return (
    <section className="handout-page" data-testid="handout-page">
      <div ref={put} className="handout-sheet" />
      <Fit>
        <div className="prose handout-say">
          <Markdown>{say}</Markdown>
        </div>
      </Fit>
      <p className="handout-foot">
        {t('{title} · {number} of {total}', { title: lesson.title, number: stop.number, total })}
      </p>
    </section>
  );
}
