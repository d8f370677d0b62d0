// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The extension points for plug-ins. A plug-in is a folder in src/plugins whose index.tsx exports `plugin`. The page
 * finds these folders by a glob pattern, so it does not name any plug-in and works without plug-ins.
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

// Data and functions that the page passes to plug-ins.

/** The state of a page with lanes, for a plug-in that leads other pages or follows a leader. */
export interface PageNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  /** The name of the run on the stage; null without a run, or if the run has no name. */
  readonly run: string | null;
  /** Whether the viewer can already control playback. */
  readonly ready: boolean;
  /** Whether the stage is covered because a prediction is asked. */
  readonly veiled: boolean;
  /** Playback with the page as its actor, so that actions of the plug-in do not count as actions of a person. */
  readonly playback: Playback;
}

/** The state of a lesson page, including its viewer's guess and answers. */
export interface LessonNow {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly arms: readonly string[];
  readonly place: Place;
  readonly go: Go;
  readonly guess: { readonly guess: number | null };
  /**
   * The correct choice for this step's question, according to the run on the stage. Null while the choice is unknown,
   * or if this run cannot answer the question.
   */
  readonly truth: number | null;
  readonly answers: Answers;
  readonly questions: { readonly ask: (question: number | null) => void };
  /** Open a question that the viewer answers by selecting a mark. The page goes to the question's step first. */
  readonly pointAt: (question: number) => void;
  readonly actions: {
    readonly knobs: Knobs;
    /** The reason that no live run can start; empty if a live run can start. */
    readonly blocked: string;
    readonly turnOne: (name: string, value: number) => void;
    /** Request a run with the current knobs from the plug-in that handles runs; null if no plug-in handles runs. */
    readonly attempt: (() => void) | null;
  };
}

/** Wraps a lesson page or slides. The wrapped content can change between a lesson page and slides. */
export interface AroundLessonProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** The reason that no live run can start; empty if a live run can start. */
  readonly blocked: string;
  /** The reason that the page cannot send requests to a server; empty if the page can send requests. */
  readonly shut: string;
  /** Start a run with these arms. */
  readonly onBegin: (arms: readonly string[]) => void;
  /** Returns the link to the current step with the current knobs. */
  readonly address: () => string;
  readonly children: ReactNode;
}

// Data and functions that plug-ins pass to the page.

/**
 * Contributions of a plug-in to a lesson page. A plug-in may add fields of its own, which only its own OverLesson
 * receives.
 */
export interface InLesson {
  /** A mark or a lane that the instructor highlights on everybody's page. */
  readonly spotlight: Spotlight | null;
  /** Called when the viewer clicks a mark. Returns false if the plug-in does not use the mark. */
  readonly pick: (mark: Mark | null) => boolean;
  /** Content in front of the picture of the lanes. */
  readonly over: ReactNode;
}

/** Whether this page follows a leader's page. */
export interface Lead {
  /** Whether somebody else leads this page. If so, the moment in its address was not chosen by the viewer. */
  readonly led: boolean;
  /** The key with which a viewer follows the leader again; null if there is no leader. */
  readonly key: Key | null;
  readonly follow: () => void;
}

/**
 * Who reveals the answer to a step's question. With `own`, the viewer's guess reveals the answer. With all other
 * values, the instructor reveals the answer. `later` means that the instructor has not asked the question yet. `posed`
 * means that the instructor has asked the question. `revealed` means that the answer is shown.
 */
export type Reveal = 'own' | 'later' | 'posed' | 'revealed';

/** Counts of the members who answer a step's question on their own pages. Their leader's page has these counts. */
export interface Audience {
  /** The number of members who have answered. `here` is the number of members who are present. */
  readonly answers: number;
  readonly here: number;
  /** The number of answers for each choice. */
  readonly counts: readonly number[];
  /** Reveal the answer on all members' pages. */
  readonly reveal: () => void;
}

export type RunChoice = Omit<Extract<ClientMessage, { type: 'start' }>, 'type'>;

/** Lets a plug-in handle the runs that a viewer requests in a step, instead of the server. */
export interface RunTaker {
  /** Whether the plug-in also accepts runs of a changed patch. */
  readonly patches: boolean;
  readonly attempt: (run: RunChoice) => void;
}

/** Places on the page where plug-ins can show content, and the props of that content. */
export interface Slots<Own extends InLesson = InLesson> {
  /** Content on every page. */
  readonly Everywhere: { readonly place: Place };
  /** Content on the front page, above the list of lessons. */
  readonly OnHome: unknown;
  /** Content beside the tools in the header of a lesson. */
  readonly InTopBar: { readonly lesson: Lesson };
  /** Content below the header of a lesson page. `notes` contains notes for instructors. */
  readonly OverLesson: {
    readonly page: LessonNow;
    readonly own: Own;
    readonly notes: ReactNode;
  };
  /** Content below the header of a page with two runs. */
  readonly OverComparison: { readonly lesson: Lesson; readonly place: Place };
  /** Content beside the lanes, shown while useBeside returns true. */
  readonly BesideLanes: unknown;
  /** A button next to the run's state, the knobs, or an arm's patch. */
  readonly Tool: { readonly at: 'state' | 'knobs' | 'patch'; readonly arm?: string };
  /** Content in the last line of a slide. */
  readonly OnSlide: unknown;
}

type Parts<Own extends InLesson> = {
  readonly [K in keyof Slots<Own>]?: ComponentType<Slots<Own>[K]>;
};

/**
 * A plug-in. Functions whose names begin with `use` are hooks. At each render, the page calls the hooks of all plug-ins
 * in a fixed order.
 */
export interface Plugin<Own extends InLesson = InLesson> extends Parts<Own> {
  readonly name: string;
  /** Names of the plug-ins that this plug-in requires. */
  readonly requires?: readonly string[];
  /** Wraps every page inside the provider of the store. */
  readonly Around?: ComponentType<{
    readonly place: Place;
    readonly visit: VisitPlace;
    readonly children: ReactNode;
  }>;
  readonly AroundLesson?: ComponentType<AroundLessonProps>;
  /** The page of the plug-in that an address selects; null if the address selects another page. */
  readonly pageOf?: (search: string, place: Place, go: Go) => ReactElement | null;
  /** Whether BesideLanes currently takes up space. */
  readonly useBeside?: () => boolean;
  /** Wraps the function with which the page navigates. */
  readonly useGo?: (go: Go, place: Place) => Go;
  readonly useLead?: () => Lead;
  readonly useRuns?: (lesson: string, step: string) => RunTaker | null;
  /** Called with a viewer's guess, and whether the guess is right. `right` is null while this is unknown. */
  readonly useGuessed?: (scene: Scene) => (choice: number, right: boolean | null) => void;
  readonly useReveal?: (scene: Scene) => Reveal;
  /** Returns null if nobody answers, or if this page does not lead the members. */
  readonly useAudience?: (scene: Scene) => Audience | null;
  /** Called with a mark that the viewer selected to answer a question. */
  readonly usePointed?: (lesson: Lesson) => (question: number, mark: Mark, right: boolean) => void;
  readonly useLesson?: (page: PageNow, index: RunIndex | null) => Own;
  /** Called for a page with two runs. For a lesson page, useLesson is called instead. */
  readonly useComparison?: (page: PageNow) => void;
  /** Called for a page with two runs while the runs are loading, or if they cannot be loaded. */
  readonly useAwaited?: (place: Place) => void;
}

/** All plug-ins, sorted by name. Throws if a plug-in requires another plug-in that is missing. */
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

/** The list never changes while the page is open, so hooks are always called in the same order. */
const plugins = collectPlugins(found);

type With<K extends keyof Plugin> = Plugin & { readonly [key in K]-?: NonNullable<Plugin[K]> };

function having<K extends keyof Plugin>(key: K): readonly With<K>[] {
  return plugins.filter((one): one is With<K> => one[key] !== undefined);
}

/** The results of one hook, from all plug-ins that have this hook. */
function said<K extends keyof Plugin, R>(key: K, ask: (hook: NonNullable<Plugin[K]>) => R): R[] {
  return having(key).map((one) => ask(one[key]));
}

// The places in the page's code that call plug-ins.

/** Renders the content of all plug-ins for one place of the page. */
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

/** The page that a plug-in shows for this address; null if no plug-in does. */
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

/** The first plug-in that handles the runs of this step; null if the server handles the runs. */
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

/** The contributions of all plug-ins to a lesson page, both combined and separate. */
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

/** The content of all plug-ins in front of the picture of the lanes. */
export function OverPicture({ inLesson }: { readonly inLesson: InLessons }) {
  return [...inLesson.own].map(([name, { over }]) => <Fragment key={name}>{over}</Fragment>);
}

export function useInComparison(page: PageNow): void {
  said('useComparison', (compare) => compare(page));
}

export function useAwaited(place: Place): void {
  said('useAwaited', (awaited) => awaited(place));
}
