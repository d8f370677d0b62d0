// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What a plug-in may add to the page, and where the page asks them. A plug-in is a folder of src/plugins, found by
 * looking; its index.tsx exports `plugin`. The page names none, and goes without any.
 */

import { type ComponentType, Fragment, type ReactElement, type ReactNode } from 'react';
import type { Key } from './controls/keyboard.ts';
import type { Mark, RunIndex } from './derive/types.ts';
import type { Knobs } from './navigation/knobs.ts';
import type { Place } from './navigation/place.ts';
import type { Go, VisitPlace } from './navigation/use-navigation.ts';
import type { Answers } from './panels/predict.ts';
import type { Playback } from './playback/hooks.tsx';
import { found } from './plugins-found.ts';
import type { Lesson, Scene } from './protocol/lesson.ts';
import type { ClientMessage } from './protocol/messages.ts';
import type { Spotlight } from './views/contract.ts';

// What a plug-in is given.

/** A page with lanes, as who leads others and who follows them see it. */
export interface PageNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  /** The name of the run on show; null: there is none to name. */
  readonly run: string | null;
  /** The viewer may go about in the run on show. */
  readonly ready: boolean;
  /** The stage is covered: a prediction is asked. */
  readonly veiled: boolean;
  /** Of the page itself: what it does is no act of a person. */
  readonly playback: Playback;
}

/** A lesson that is read, with what its viewer did. */
export interface LessonNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly guess: { readonly guess: number | null };
  readonly answers: Answers;
  readonly questions: { readonly ask: (question: number | null) => void };
  /** Opens a question that is answered by pointing; its step is gone to first. */
  readonly pointAt: (question: number) => void;
  readonly actions: {
    readonly knobs: Knobs;
    /** Why no live run can begin; empty: one can. */
    readonly blocked: string;
    readonly turnOne: (name: string, value: number) => void;
    /** Gives the run as it stands to the plug-in that takes runs; null: none does. */
    readonly attempt: (() => void) | null;
  };
}

/** Around a lesson, read or on slides: what it shows may come and go meanwhile. */
export interface AroundLessonProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** Why no live run can begin; empty: one can. */
  readonly blocked: string;
  /** Why there is no server to ask; empty: there is one. */
  readonly shut: string;
  /** Begins a run of these arms. */
  readonly onBegin: (arms: readonly string[]) => void;
  /** The link to the step with its knobs. */
  readonly address: () => string;
  readonly children: ReactNode;
}

// What a plug-in gives.

/** Of a lesson page. A plug-in may have more in it: its own OverLesson gets it back. */
export interface InLesson {
  /** A mark or a lane that all are to look at. */
  readonly spotlight: Spotlight | null;
  /** Takes a mark that was clicked; false: it is not wanted. */
  readonly pick: (mark: Mark | null) => boolean;
  /** Lies over the lanes' picture. */
  readonly over: ReactNode;
}

/** Somebody else may lead this page. */
export interface Lead {
  /** It is led: the moment in its address is nothing that its viewer has sought. */
  readonly led: boolean;
  /** Goes back to who leads; null: nobody does. */
  readonly key: Key | null;
  readonly follow: () => void;
}

export type RunChoice = Omit<Extract<ClientMessage, { type: 'start' }>, 'type'>;

/** Takes the runs that a viewer asks for in a step. */
export interface RunTaker {
  /** Also runs of a changed patch. */
  readonly patches: boolean;
  readonly attempt: (run: RunChoice) => void;
}

/** Each part of the page that a plug-in may fill, with what it is given. */
export interface Slots<Own extends InLesson = InLesson> {
  /** On every page, whatever it shows else. */
  readonly Everywhere: { readonly place: Place };
  /** On the home page, above the lessons. */
  readonly OnHome: unknown;
  /** Beside the tools of a lesson's header. */
  readonly InTopBar: { readonly lesson: Lesson };
  /** Under the header of a lesson that is read; `notes` are for who teaches it. */
  readonly OverLesson: {
    readonly page: LessonNow;
    readonly own: Own;
    readonly notes: ReactNode;
  };
  /** Under the header of two runs beside each other. */
  readonly OverComparison: { readonly lesson: Lesson; readonly place: Place };
  /** Takes room beside the lanes, where useBeside says so. */
  readonly BesideLanes: unknown;
  /** A button beside the state of the run, the knobs, or the patch of an arm. */
  readonly Tool: { readonly at: 'state' | 'knobs' | 'patch'; readonly arm?: string };
  /** In the last line of a slide. */
  readonly OnSlide: unknown;
}

type Parts<Own extends InLesson> = {
  readonly [K in keyof Slots<Own>]?: ComponentType<Slots<Own>[K]>;
};

/** Functions called use… are hooks: the page calls those of all plug-ins, in one order, each time it is drawn. */
export interface Plugin<Own extends InLesson = InLesson> extends Parts<Own> {
  readonly name: string;
  /** Names of plug-ins that it cannot do without. */
  readonly requires?: readonly string[];
  /** Around all pages, below the store. */
  readonly Around?: ComponentType<{
    readonly place: Place;
    readonly visit: VisitPlace;
    readonly children: ReactNode;
  }>;
  readonly AroundLesson?: ComponentType<AroundLessonProps>;
  /** The page that an address asks for in place of the page's own; null: none. */
  readonly pageOf?: (search: string, place: Place, go: Go) => ReactElement | null;
  /** Whether BesideLanes takes room now. */
  readonly useBeside?: () => boolean;
  /** Goes where a person wants to go. */
  readonly useGo?: (go: Go, place: Place) => Go;
  readonly useLead?: () => Lead;
  readonly useRuns?: (lesson: string, step: string) => RunTaker | null;
  /** Takes a prediction and whether it is right; null: nobody knows yet. */
  readonly useGuessed?: (scene: Scene) => (choice: number, right: boolean | null) => void;
  /** Takes an answer that was pointed at. */
  readonly usePointed?: (lesson: Lesson) => (question: number, mark: Mark, right: boolean) => void;
  readonly useLesson?: (page: PageNow, index: RunIndex | null) => Own;
  /** The page of two runs; a lesson page has useLesson. */
  readonly useComparison?: (page: PageNow) => void;
  /** Two runs that are still read, or cannot be. */
  readonly useAwaited?: (place: Place) => void;
}

/** All of them, in the order of their names. Throws where one lacks another that it cannot do without. */
export function collectPlugins(modules: Readonly<Record<string, unknown>>): readonly Plugin[] {
  const all = Object.values(modules as Readonly<Record<string, { readonly plugin: Plugin }>>)
    .map((module) => module.plugin)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = new Set(all.map(({ name }) => name));
  for (const { name, requires = [] } of all)
    for (const other of requires)
      if (!names.has(other)) throw new Error(`the plug-in ${name} needs ${other}`);
  return all;
}

/** They never change while the page is open, so their hooks are called in one order. */
const plugins = collectPlugins(found);

type With<K extends keyof Plugin> = Plugin & { readonly [key in K]-?: NonNullable<Plugin[K]> };

function having<K extends keyof Plugin>(key: K): readonly With<K>[] {
  return plugins.filter((one): one is With<K> => one[key] !== undefined);
}

/** What the hooks of all plug-ins say. */
function said<K extends keyof Plugin, R>(key: K, ask: (hook: NonNullable<Plugin[K]>) => R): R[] {
  return having(key).map((one) => ask(one[key]));
}

// Where the page asks them.

/** What all plug-ins have for a part of the page. */
export function Slot<K extends Exclude<keyof Slots, 'OverLesson'>>({
  part,
  given,
}: {
  readonly part: K;
  readonly given: Slots[K];
}) {
  return having(part).map((one) => {
    const Part = one[part] as ComponentType<object>;
    return <Part key={one.name} {...(given as object)} />;
  });
}

export function AroundPages(props: {
  readonly place: Place;
  readonly visit: VisitPlace;
  readonly children: ReactNode;
}) {
  const { children, ...given } = props;
  return having('Around').reduceRight<ReactNode>(
    (inner, { name, Around }) => (
      <Around key={name} {...given}>
        {inner}
      </Around>
    ),
    children,
  );
}

export function AroundLesson({ children, ...given }: AroundLessonProps) {
  return having('AroundLesson').reduceRight<ReactNode>(
    (inner, { name, AroundLesson: Around }) => (
      <Around key={name} {...given}>
        {inner}
      </Around>
    ),
    children,
  );
}

/** The page of a plug-in that an address asks for; null: none. */
export function pluginPage(search: string, place: Place, go: Go): ReactElement | null {
  for (const { pageOf } of having('pageOf')) {
    const page = pageOf(search, place, go);
    if (page !== null) return page;
  }
  return null;
}

export function useBeside(): boolean {
  return said('useBeside', (beside) => beside()).includes(true);
}

export function useOwnGo(go: Go, place: Place): Go {
  let own = go;
  said('useGo', (wrap) => {
    own = wrap(own, place);
  });
  return own;
}

export function useLead(): Omit<Lead, 'key'> & { readonly keys: readonly Key[] } {
  const all = said('useLead', (lead) => lead());
  return {
    led: all.some(({ led }) => led),
    keys: all.flatMap(({ key }) => key ?? []),
    follow: () => {
      for (const { follow } of all) follow();
    },
  };
}

/** The first that takes runs of this step; null: the server does. */
export function useRunTaker(lesson: string, step: string): RunTaker | null {
  const all = said('useRuns', (taker) => taker(lesson, step));
  return all.find((taker) => taker !== null) ?? null;
}

export function useGuessed(scene: Scene): (choice: number, right: boolean | null) => void {
  const all = said('useGuessed', (guessed) => guessed(scene));
  return (choice, right) => {
    for (const guessed of all) guessed(choice, right);
  };
}

export function usePointed(lesson: Lesson): (question: number, mark: Mark, right: boolean) => void {
  const all = said('usePointed', (pointed) => pointed(lesson));
  return (question, mark, right) => {
    for (const pointed of all) pointed(question, mark, right);
  };
}

/** What all have of a lesson page, and each for itself. */
export type InLessons = ReturnType<typeof useInLesson>;

export function useInLesson(page: PageNow, index: RunIndex | null) {
  const own = new Map(
    having('useLesson').map(({ name, useLesson: inLesson }) => [name, inLesson(page, index)]),
  );
  const all = [...own.values()];
  return {
    own,
    spotlight: all.find(({ spotlight }) => spotlight !== null)?.spotlight ?? null,
    pick: (mark: Mark | null) => all.map(({ pick }) => pick(mark)).includes(true),
  };
}

const alone: InLesson = { spotlight: null, pick: () => false, over: null };

export function OverLesson({
  page,
  inLesson,
  notes,
}: {
  readonly page: LessonNow;
  readonly inLesson: InLessons;
  readonly notes: ReactNode;
}) {
  return having('OverLesson').map(({ name, OverLesson: Part }) => (
    <Part key={name} {...{ page, notes }} own={inLesson.own.get(name) ?? alone} />
  ));
}

/** What lies over the lanes' picture. */
export function OverPicture({ inLesson }: { readonly inLesson: InLessons }) {
  return [...inLesson.own].map(([name, { over }]) => <Fragment key={name}>{over}</Fragment>);
}

export function useInComparison(page: PageNow): void {
  said('useComparison', (compare) => compare(page));
}

export function useAwaited(place: Place): void {
  said('useAwaited', (awaited) => awaited(place));
}
