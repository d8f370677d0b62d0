// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Extension points of the page for plug-ins. A plug-in is a folder of src/plugins whose index.tsx exports `plugin`.
 * Folders are found by glob, so the page names none and works without any.
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

// Inputs of a plug-in.

/** A page with lanes, for a plug-in that leads or follows. */
export interface PageNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  /** The name of the run on the stage; null: none can be named. */
  readonly run: string | null;
  /** The viewer can control playback of the run on the stage. */
  readonly ready: boolean;
  /** The stage is covered: a prediction is asked. */
  readonly veiled: boolean;
  /** Playback with the page as actor: its actions do not count as a person's. */
  readonly playback: Playback;
}

/** A lesson page, with what its viewer did. */
export interface LessonNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly guess: { readonly guess: number | null };
  /** The right choice of this step's question, where the run on the stage may judge it; null: it is not known. */
  readonly truth: number | null;
  readonly answers: Answers;
  readonly questions: { readonly ask: (question: number | null) => void };
  /** Open a question that is answered by selecting a mark; goes to its step first. */
  readonly pointAt: (question: number) => void;
  readonly actions: {
    readonly knobs: Knobs;
    /** Why no live run can start; empty: one can. */
    readonly blocked: string;
    readonly turnOne: (name: string, value: number) => void;
    /** Pass the current run settings to the plug-in that takes runs; null: none does. */
    readonly attempt: (() => void) | null;
  };
}

/** Wraps a lesson page or slides; what is inside may change. */
export interface AroundLessonProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** Why no live run can start; empty: one can. */
  readonly blocked: string;
  /** Why no server can be asked; empty: one can. */
  readonly shut: string;
  /** Start a run of these arms. */
  readonly onBegin: (arms: readonly string[]) => void;
  /** The link to the step with its knobs. */
  readonly address: () => string;
  readonly children: ReactNode;
}

// Outputs of a plug-in.

/** Contributions to a lesson page. A plug-in may add fields, which its own OverLesson receives. */
export interface InLesson {
  /** A mark or lane that is highlighted for everybody. */
  readonly spotlight: Spotlight | null;
  /** Receives a clicked mark; returns false if it is not needed. */
  readonly pick: (mark: Mark | null) => boolean;
  /** Drawn over the picture of the lanes. */
  readonly over: ReactNode;
}

/** Whether another page leads this one. */
export interface Lead {
  /** The page is led: its viewer has not requested the moment in its address. */
  readonly led: boolean;
  /** The key that returns to the leader; null: nobody leads. */
  readonly key: Key | null;
  readonly follow: () => void;
}

/**
 * Who decides when the answer to a step's question is shown: the viewer, by a guess; or the one who teaches, `later` or
 * of a question that was `posed`, until it is `revealed`.
 */
export type Reveal = 'own' | 'later' | 'posed' | 'revealed';

/** Those who answer a step's question on their own pages, as who leads them sees them. */
export interface Audience {
  /** How many have answered, and how many are there. */
  readonly answers: number;
  readonly here: number;
  /** For each choice. */
  readonly counts: readonly number[];
  /** Shows the answer on all pages. */
  readonly reveal: () => void;
}

export type RunChoice = Omit<Extract<ClientMessage, { type: 'start' }>, 'type'>;

/** Receives the runs that a viewer requests in a step. */
export interface RunTaker {
  /** Also accepts runs of a changed patch. */
  readonly patches: boolean;
  readonly attempt: (run: RunChoice) => void;
}

/** Parts of the page that a plug-in may fill, with their props. */
export interface Slots<Own extends InLesson = InLesson> {
  /** On every page. */
  readonly Everywhere: { readonly place: Place };
  /** On the home page, above the lessons. */
  readonly OnHome: unknown;
  /** Beside the tools of a lesson's header. */
  readonly InTopBar: { readonly lesson: Lesson };
  /** Below the header of a lesson page; `notes` are for instructors. */
  readonly OverLesson: {
    readonly page: LessonNow;
    readonly own: Own;
    readonly notes: ReactNode;
  };
  /** Below the header of a page with two runs. */
  readonly OverComparison: { readonly lesson: Lesson; readonly place: Place };
  /** Beside the lanes, if useBeside returns true. */
  readonly BesideLanes: unknown;
  /** A button beside the state of the run, the knobs, or the patch of an arm. */
  readonly Tool: { readonly at: 'state' | 'knobs' | 'patch'; readonly arm?: string };
  /** In the last line of a slide. */
  readonly OnSlide: unknown;
}

type Parts<Own extends InLesson> = {
  readonly [K in keyof Slots<Own>]?: ComponentType<Slots<Own>[K]>;
};

/** Functions named use... are hooks: the page calls those of all plug-ins in a fixed order at each render. */
export interface Plugin<Own extends InLesson = InLesson> extends Parts<Own> {
  readonly name: string;
  /** Names of required plug-ins. */
  readonly requires?: readonly string[];
  /** Wraps all pages, inside the store's provider. */
  readonly Around?: ComponentType<{
    readonly place: Place;
    readonly visit: VisitPlace;
    readonly children: ReactNode;
  }>;
  readonly AroundLesson?: ComponentType<AroundLessonProps>;
  /** The page that an address selects instead of the page's own; null: none. */
  readonly pageOf?: (search: string, place: Place, go: Go) => ReactElement | null;
  /** Whether BesideLanes currently takes up space. */
  readonly useBeside?: () => boolean;
  /** Wraps the function that navigates. */
  readonly useGo?: (go: Go, place: Place) => Go;
  readonly useLead?: () => Lead;
  readonly useRuns?: (lesson: string, step: string) => RunTaker | null;
  /** Receives a guess and whether it is right; null: not known yet. */
  readonly useGuessed?: (scene: Scene) => (choice: number, right: boolean | null) => void;
  readonly useReveal?: (scene: Scene) => Reveal;
  /** Null: there is none, or this page does not lead it. */
  readonly useAudience?: (scene: Scene) => Audience | null;
  /** Takes an answer that was pointed at. */
  readonly usePointed?: (lesson: Lesson) => (question: number, mark: Mark, right: boolean) => void;
  readonly useLesson?: (page: PageNow, index: RunIndex | null) => Own;
  /** Receives the page of two runs; a lesson page has useLesson. */
  readonly useComparison?: (page: PageNow) => void;
  /** Called for two runs that are loading or cannot be loaded. */
  readonly useAwaited?: (place: Place) => void;
}

/** All plug-ins in order of their names. Throws if a required plug-in is missing. */
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

/** Fixed while the page is open, so that their hooks are called in one order. */
const plugins = collectPlugins(found);

type With<K extends keyof Plugin> = Plugin & { readonly [key in K]-?: NonNullable<Plugin[K]> };

function having<K extends keyof Plugin>(key: K): readonly With<K>[] {
  return plugins.filter((one): one is With<K> => one[key] !== undefined);
}

/** Results of one hook of all plug-ins. */
function said<K extends keyof Plugin, R>(key: K, ask: (hook: NonNullable<Plugin[K]>) => R): R[] {
  return having(key).map((one) => ask(one[key]));
}

// Where the page calls plug-ins.

/** Renders a part of the page from all plug-ins. */
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

/** The page of a plug-in that an address selects; null: none. */
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

/** The first plug-in that takes runs of this step; null: the server runs them. */
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

/** Contributions of all plug-ins to a lesson page, merged and separately. */
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

/** Drawn over the picture of the lanes. */
export function OverPicture({ inLesson }: { readonly inLesson: InLessons }) {
  return [...inLesson.own].map(([name, { over }]) => <Fragment key={name}>{over}</Fragment>);
}

export function useInComparison(page: PageNow): void {
  said('useComparison', (compare) => compare(page));
}

export function useAwaited(place: Place): void {
  said('useAwaited', (awaited) => awaited(place));
}
