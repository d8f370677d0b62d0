// SPDX-License-Identifier: GPL-2.0-or-later
/** The position of a deck. Keys, buttons and the speaker's window change it, and the speaker's window follows it. */

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
import { type Stop, slideCount, stopAt, stopsOf } from './slides.ts';
import { useTalk } from './talk.ts';

// The meaning of keys in a deck. Clickers send Page Up and Page Down; some clickers send arrow keys. Pure.

const acts = ['next', 'back', 'first', 'last', 'notes', 'handout', 'toy'] as const;
export type DeckAct = (typeof acts)[number];

function isDeckAct(value: unknown): value is DeckAct {
  return acts.some((act) => act === value);
}

const keys: Readonly<Record<string, DeckAct>> = {
  PageDown: 'next',
  ArrowRight: 'next',
  ArrowDown: 'next',
  PageUp: 'back',
  ArrowLeft: 'back',
  ArrowUp: 'back',
  Home: 'first',
  End: 'last',
  s: 'notes',
  h: 'handout',
  y: 'toy',
};

const fields = 'input:not([type="checkbox"]), select, textarea, [role="dialog"], [contenteditable]';
const clicker: ReadonlySet<string> = new Set(['PageDown', 'PageUp']);

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly target: EventTarget | null;
}

/** The action of a key; null if the key has no action, or if an input field uses the key. */
export function deckAct(event: Pressed): DeckAct | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(fields)) return null;
  // While an interactive exercise (toy) has the focus, only the keys of a clicker change slides.
  // The interactive exercise handles all other keys.
  if (target?.closest('.toy') && !clicker.has(event.key)) return null;
  return keys[event.key] ?? null;
}

/** Index of the stop after a press, clamped to the deck's first and last stop. */
export function moved(at: number, act: DeckAct, stops: number): number {
  const last = Math.max(0, stops - 1);
  if (act === 'next') return Math.min(last, at + 1);
  if (act === 'back') return Math.max(0, at - 1);
  if (act === 'first') return 0;
  return act === 'last' ? last : at;
}

// Messages between the deck and the speaker's window, over one BroadcastChannel per lesson.

/** Position and state of the deck. */
export interface DeckNews {
  readonly kind: 'at';
  readonly step: string;
  readonly press: number;
  /** The sentence that is currently computed from the events; may be empty. */
  readonly sentence: string;
  /** The answer to the step's question, for the speaker, even before the slides reveal it; empty if it is unknown. */
  readonly answer: string;
  /** Start of the talk, ms since 1970. */
  readonly since: number;
}

type Message =
  | DeckNews
  | { readonly kind: 'hello' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'move'; readonly act: DeckAct };

/** Read a message from the channel; null if it is of an unknown kind. */
export function readMessage(value: unknown): Message | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, act, step, press, sentence, answer, since } = value as Record<string, unknown>;
  if (kind === 'hello' || kind === 'restart') return { kind };
  if (kind === 'move') return isDeckAct(act) ? { kind, act } : null;
  if (kind !== 'at' || typeof step !== 'string' || typeof press !== 'number') return null;
  if (typeof sentence !== 'string' || typeof answer !== 'string') return null;
  return typeof since === 'number' ? { kind, step, press, sentence, answer, since } : null;
}

export interface Channel {
  readonly send: (message: Message) => void;
  readonly close: () => void;
}

/** If the browser lacks BroadcastChannel, there is no speaker's window, but the deck still works. */
export function openChannel(slug: string, onMessage: (message: Message) => void): Channel {
  if (typeof BroadcastChannel === 'undefined') return { send: () => {}, close: () => {} };
  const channel = new BroadcastChannel(`duet.deck.${slug}`);
  channel.onmessage = ({ data }) => {
    const message = readMessage(data);
    if (message !== null) onMessage(message);
  };
  return { send: (message) => channel.postMessage(message), close: () => channel.close() };
}

export function useStops(lesson: Lesson): readonly Stop[] {
  return useMemo(() => {
    const { panels, tells } = viewOf(lesson.view);
    return stopsOf(unspoilt(lesson, tells), Object.keys(panels ?? {}));
  }, [lesson]);
}

/** The lesson, without charts and tables that would answer a question of a later step. */
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
  // Close the interactive exercise (toy) when the deck leaves the slide with this exercise.
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

/** Whether the slide can show the step's interactive exercise (toy) instead of the picture. */
export function offersToy(page: LessonModel, stop: Stop): boolean {
  return stop.slide.kind === 'picture' && toyOf(page.lesson, page.scene) !== null;
}

/**
 * Handles the deck's keys before the picture receives them. The picture uses arrow keys to select marks, but a
 * clicker's arrow keys must change slides.
 */
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
  const [opened] = useState(() => Date.now());
  const [since, restart] = useTalk(lesson.slug, opened);
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
  const latest = useRef({ news, act, restart });
  latest.current = { news, act, restart };
  const channel = useRef<Channel | null>(null);
  useEffect(() => {
    const take = (message: Message) => {
      if (message.kind === 'hello') channel.current?.send(latest.current.news);
      if (message.kind === 'restart') latest.current.restart();
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
