// SPDX-License-Identifier: GPL-2.0-or-later
/** A deck that stands at a stop: moved by keys, by buttons and by the speaker's window, which follows it. */

import { useEffect, useMemo, useRef, useState } from 'react';
import { must } from '../../base/assert.ts';
import { togglePane } from '../../navigation/navigation.ts';
import { writePlace } from '../../navigation/place.ts';
import { spoilersOf } from '../../panels/predict.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ViewKind } from '../../views/contract.ts';
import { viewOf } from '../../views/registry.ts';
import { toyOf, turnToy } from '../lesson-toy.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { type Channel, type DeckNews, type Message, openChannel } from './channel.ts';
import { type DeckAct, deckAct, moved } from './moves.ts';
import { type Stop, slideCount, stopAt, stopsOf } from './slides.ts';

export function useStops(lesson: Lesson): readonly Stop[] {
  return useMemo(() => {
    const { panels, tells } = viewOf(lesson.view);
    return stopsOf(unspoilt(lesson, tells), Object.keys(panels ?? {}));
  }, [lesson]);
}

/** Its steps without the charts and tables that answer what a later step asks. */
function unspoilt(lesson: Lesson, tells: ViewKind['tells']): Lesson {
  const scenes = lesson.scenes.map((scene) => {
    const spoils = spoilersOf(lesson, scene, { guesses: {} }, new Set(), tells);
    return { ...scene, show: scene.show.filter((what) => what === 'patch' || !spoils(what)) };
  });
  return { ...lesson, scenes };
}

export type Deck = ReturnType<typeof useDeck>;

export function useDeck(page: LessonModel) {
  const { lesson, scene, place, go } = page;
  const stops = useStops(lesson);
  const at = stopAt(stops, scene.id, place.slide);
  const stop = must(stops[at], 'a stop');
  // A rule that was played with stays behind.
  const withoutToy = togglePane(place.panes, 'toy', false);
  const show = (to: number) => {
    const next = stops[to];
    if (next === undefined || to === at) return;
    const change = { ...withoutToy, slide: next.press === 1 ? null : next.press };
    if (next.step === scene.id) go(change);
    else page.step(next.step, change);
  };
  const openWindow = (present: 'notes' | 'handout') => {
    const to = writePlace({
      ...place,
      ...withoutToy,
      present,
      slide: null,
      moment: null,
      window: null,
    });
    const size = present === 'notes' ? 'popup,width=960,height=720' : '';
    window.open(`${location.pathname}${to}`, `duet-${present}`, size);
  };
  const act = (what: DeckAct) => {
    if (what === 'notes' || what === 'handout') openWindow(what);
    else if (what === 'toy') {
      if (offersToy(page, stop)) turnToy(page);
    } else show(moved(at, what, stops.length));
  };
  useDeckKeys(act);
  useSpeaker(page, stop, act);
  return { stops, at, stop, slides: slideCount(stops), act };
}

/** Whether the slide is one on which the step's rule may be played with, in place of the picture. */
export function offersToy(page: LessonModel, stop: Stop): boolean {
  return stop.slide.kind === 'picture' && toyOf(page.lesson, page.scene) !== null;
}

/** Before the picture: its arrow keys walk from mark to mark, a clicker's change slides. */
function useDeckKeys(act: (what: DeckAct) => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const what = deckAct(event);
      if (what === null) return;
      event.preventDefault();
      event.stopPropagation();
      latest.current(what);
    };
    document.addEventListener('keydown', listen, { capture: true });
    return () => document.removeEventListener('keydown', listen, { capture: true });
  }, []);
}

function useSpeaker(page: LessonModel, stop: Stop, act: (what: DeckAct) => void): void {
  const { lesson, guess, sentence } = page;
  const [since, setSince] = useState(() => Date.now());
  const { prediction, answer } = guess;
  const choice = answer === null ? undefined : prediction?.choices[answer.choice];
  const news: DeckNews = {
    kind: 'at',
    step: stop.step,
    press: stop.press,
    sentence: stop.slide.kind === 'picture' ? sentence : '',
    answer: choice === undefined ? '' : `${choice} (${answer?.words ?? ''})`,
    since,
  };
  const latest = useRef({ news, act });
  latest.current = { news, act };
  const channel = useRef<Channel | null>(null);
  useEffect(() => {
    const take = (message: Message) => {
      if (message.kind === 'hello') channel.current?.send(latest.current.news);
      if (message.kind === 'restart') setSince(Date.now());
      if (message.kind === 'move') latest.current.act(message.act);
    };
    channel.current = openChannel(lesson.slug, take);
    return () => channel.current?.close();
  }, [lesson.slug]);
  const said = JSON.stringify(news);
  useEffect(() => {
    channel.current?.send(JSON.parse(said) as DeckNews);
  }, [said]);
}
