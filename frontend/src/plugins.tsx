// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page's extension points for plug-ins. A plug-in is a folder in src/plugins whose index.tsx exports `plugin`. The
 * folders are found by a glob, so the page does not name any plug-in and works without them.
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

// What the page passes to plug-ins.

/** A page with lanes, for a plug-in that leads other pages or follows one. */
export interface PageNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  /** The name of the run on the stage; null if there is no run, or if it has no name. */
  readonly run: string | null;
  /** Whether the viewer can control playback of the run on the stage. */
  readonly ready: boolean;
  /** Whether the stage is covered, because a prediction is asked. */
  readonly veiled: boolean;
  /** Playback with the page as the actor, so that its actions do not count as those of a person. */
  readonly playback: Playback;
}

/** A lesson page, and what its viewer has done there. */
export interface LessonNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly guess: { readonly guess: number | null };
  /** The right choice for this step's question, if the run on the stage may judge it; null while it is not known. */
  readonly truth: number | null;
  readonly answers: Answers;
  readonly questions: { readonly ask: (question: number | null) => void };
  /** Open a question that is answered by selecting a mark. The page goes to the question's step first. */
  readonly pointAt: (question: number) => void;
  readonly actions: {
    readonly knobs: Knobs;
    /** Why no live run can start; empty if one can. */
    readonly blocked: string;
    readonly turnOne: (name: string, value: number) => void;
    /** Pass the current knobs to the plug-in that takes runs; null if there is none. */
    readonly attempt: (() => void) | null;
  };
}

/** Wraps a lesson page or slides. What it contains may change from one to the other. */
export interface AroundLessonProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** Why no live run can start; empty if one can. */
  readonly blocked: string;
  /** Why the page cannot send requests to a server; empty if it can. */
  readonly shut: string;
  /** Start a run of these arms. */
  readonly onBegin: (arms: readonly string[]) => void;
  /** Returns the link to the step, with its knobs. */
  readonly address: () => string;
  readonly children: ReactNode;
}

// What plug-ins pass to the page.

/** What a plug-in contributes to a lesson page. A plug-in may add fields, which only its own OverLesson receives. */
export interface InLesson {
  /** A mark or a lane that is highlighted on everybody's page. */
  readonly spotlight: Spotlight | null;
  /** Receives a mark that was clicked; returns false if the plug-in does not use it. */
  readonly pick: (mark: Mark | null) => boolean;
  /** Content that is drawn over the picture of the lanes. */
  readonly over: ReactNode;
}

/** Whether another page leads this one. */
export interface Lead {
  /** Whether the page is led, which means that its viewer did not request the moment in its address. */
  readonly led: boolean;
  /** The key that returns to following the leader; null if nobody leads. */
  readonly key: Key | null;
  readonly follow: () => void;
}

/**
 * When the answer to a step's question is shown. `own`: the viewer's guess reveals it. Otherwise the instructor reveals
 * it: `later` means that they have not asked the question yet, `posed` that they have, and `revealed` that the answer
 * is shown.
 */
export type Reveal = 'own' | 'later' | 'posed' | 'revealed';

/** The members who answer a step's question on their own pages, as their leader's page counts them. */
export interface Audience {
  /** The number of members who have answered; `here` is the number who are present. */
  readonly answers: number;
  readonly here: number;
  /** The number of answers per choice. */
  readonly counts: readonly number[];
  /** Reveal the answer on all pages. */
  readonly reveal: () => void;
}

export type RunChoice = Omit<Extract<ClientMessage, { type: 'start' }>, 'type'>;

/** Takes the runs that a viewer requests in a step. */
export interface RunTaker {
  /** Whether runs of a changed patch are accepted too. */
  readonly patches: boolean;
  readonly attempt: (run: RunChoice) => void;
}

/** Places on the page where plug-ins can show content, with the props that they get. */
export interface Slots<Own extends InLesson = InLesson> {
  /** Shown on every page. */
  readonly Everywhere: { readonly place: Place };
  /** Shown on the front page, above the lessons. */
  readonly OnHome: unknown;
  /** Shown beside the tools in a lesson's header. */
  readonly InTopBar: { readonly lesson: Lesson };
  /** Shown below the header of a lesson page. `notes` is content for instructors. */
  readonly OverLesson: {
    readonly page: LessonNow;
    readonly own: Own;
    readonly notes: ReactNode;
  };
  /** Shown below the header of a page with two runs. */
  readonly OverComparison: { readonly lesson: Lesson; readonly place: Place };
  /** Shown beside the lanes if useBeside returns true. */
  readonly BesideLanes: unknown;
  /** A button next to the run's state, the knobs, or an arm's patch. */
  readonly Tool: { readonly at: 'state' | 'knobs' | 'patch'; readonly arm?: string };
  /** Shown in the last line of a slide. */
  readonly OnSlide: unknown;
}

type Parts<Own extends InLesson> = {
  readonly [K in keyof Slots<Own>]?: ComponentType<Slots<Own>[K]>;
};

/**
 * A plug-in. Its functions named use... are hooks: at each render, the page calls those of all plug-ins in a fixed
 * order.
 */
export interface Plugin<Own extends InLesson = InLesson> extends Parts<Own> {
  readonly name: string;
  /** Names of the plug-ins that this one requires. */
  readonly requires?: readonly string[];
  /** Wraps every page, inside the store's provider. */
  readonly Around?: ComponentType<{
    readonly place: Place;
    readonly visit: VisitPlace;
    readonly children: ReactNode;
  }>;
  readonly AroundLesson?: ComponentType<AroundLessonProps>;
  /** The page that an address selects instead of one of the page's own; null if there is none. */
  readonly pageOf?: (search: string, place: Place, go: Go) => ReactElement | null;
  /** Whether BesideLanes takes up space at present. */
  readonly useBeside?: () => boolean;
  /** Wraps the function that navigates. */
  readonly useGo?: (go: Go, place: Place) => Go;
  readonly useLead?: () => Lead;
  readonly useRuns?: (lesson: string, step: string) => RunTaker | null;
  /** Receives a guess, and whether it is right; null means that this is not known yet. */
  readonly useGuessed?: (scene: Scene) => (choice: number, right: boolean | null) => void;
  readonly useReveal?: (scene: Scene) => Reveal;
  /** Null if nobody answers, or if this page does not lead them. */
  readonly useAudience?: (scene: Scene) => Audience | null;
  /** Receives a mark that answers a question. */
  readonly usePointed?: (lesson: Lesson) => (question: number, mark: Mark, right: boolean) => void;
  readonly useLesson?: (page: PageNow, index: RunIndex | null) => Own;
  /** Receives a page with two runs; a lesson page is received by useLesson. */
  readonly useComparison?: (page: PageNow) => void;
  /** Called for a page with two runs while they are loading, or if they cannot be loaded. */
  readonly useAwaited?: (place: Place) => void;
}

/** All plug-ins, sorted by name. Throws if a plug-in that another one requires is missing. */
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

/** The plug-ins do not change while the page is open, so that their hooks are always called in the same order. */
const plugins = collectPlugins(found);

type With<K extends keyof Plugin> = Plugin & { readonly [key in K]-?: NonNullable<Plugin[K]> };

function having<K extends keyof Plugin>(key: K): readonly With<K>[] {
  return plugins.filter((one): one is With<K> => one[key] !== undefined);
}

/** The results of one hook, for all plug-ins that have it. */
function said<K extends keyof Plugin, R>(key: K, ask: (hook: NonNullable<Plugin[K]>) => R): R[] {
  return having(key).map((one) => ask(one[key]));
}

// The places where the page calls plug-ins.

/** Renders what all plug-ins show at one place of the page. */
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

/** The page of a plug-in that an address selects; null if there is none. */
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

/** The first plug-in that takes runs of this step; null if the server runs them. */
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

export function useAudience(scene: Scene): Audience | null {
  const all = said('useAudience', (audience) => audience(scene));
  return all.find((one) => one !== null) ?? null;
}

export function useReveal(scene: Scene): Reveal {
  const all = said('useReveal', (reveal) => reveal(scene));
  return all.find((one) => one !== 'own') ?? 'own';
}

export function usePointed(lesson: Lesson): (question: number, mark: Mark, right: boolean) => void {
  const all = said('usePointed', (pointed) => pointed(lesson));
  return (question, mark, right) => {
    for (const pointed of all) pointed(question, mark, right);
  };
}

/** What all plug-ins contribute to a lesson page, both merged and separately. */
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

/** What plug-ins draw over the picture of the lanes. */
export function OverPicture({ inLesson }: { readonly inLesson: InLessons }) {
  return [...inLesson.own].map(([name, { over }]) => <Fragment key={name}>{over}</Fragment>);
}

export function useInComparison(page: PageNow): void {
  said('useComparison', (compare) => compare(page));
}

export function useAwaited(place: Place): void {
  said('useAwaited', (awaited) => awaited(place));
}
