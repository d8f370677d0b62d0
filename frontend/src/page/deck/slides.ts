// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson as slides: each step gives one to three, words begin and questions end it; a press goes from stop to stop. Pure. */

import type { Lesson, Scene } from '../../protocol/lesson.ts';
import { patchParts } from './patch-choice.ts';

/** What stands on a slide beside its title: a panel of the view by its name, or one of these. */
export type Part =
  | { readonly what: 'latency' | 'measured' | 'counts' }
  | { readonly what: 'panel'; readonly name: string }
  | {
      readonly what: 'patch';
      readonly arm: string;
      /** Parts of lines that are to be seen; none: those that run. */
      readonly at: readonly string[];
      /** No step before shows this patch. */
      readonly first: boolean;
    };

export type Slide =
  /** What one has to know first; the first of them says who wrote the mail. */
  | { readonly kind: 'words'; readonly terms: readonly string[]; readonly mail: boolean }
  | { readonly kind: 'ask' | 'picture' | 'explain' }
  | { readonly kind: 'evidence'; readonly parts: readonly Part[] }
  /** Questions of the recap, by their place in it; on paper all at once. */
  | { readonly kind: 'quiz'; readonly questions: readonly number[] };

export type SlideKind = Slide['kind'];

/** No step has more; words and questions stand beside them. */
export const mostSlides = 3;
/** Words of a lesson that stand on one slide. */
const mostTerms = 3;

type Given = Pick<Lesson, 'predictions' | 'arms' | 'scenes'>;
type Whole = Given & Pick<Lesson, 'terms' | 'mails' | 'explain' | 'quiz'>;

/** The slides of a step, in order. `panels`: names of the panels that the lesson's view has. */
export function slidesOf(lesson: Given, scene: Scene, panels: readonly string[]): readonly Slide[] {
  const asks = scene.predict !== null && lesson.predictions[scene.predict] !== undefined;
  const before: Slide[] = [...(asks ? [{ kind: 'ask' as const }] : []), { kind: 'picture' }];
  const patch: readonly Part[] = patchParts(lesson, scene);
  const evidence = evidenceOf(scene, panels);
  const groups = [patch, evidence].filter((parts) => parts.length > 0);
  const after = groups.length > mostSlides - before.length ? [groups.flat()] : groups;
  return [
    ...before,
    ...after.map((parts) => ({ kind: 'evidence' as const, parts: filled(parts) })),
  ];
}

/** Charts and tables; what is proved stands first. */
function evidenceOf({ show }: Scene, panels: readonly string[]): readonly Part[] {
  const measured: readonly Part[] = show.includes('measured') ? [{ what: 'measured' }] : [];
  const others = show.flatMap((name): Part[] => {
    if (name === 'latency') return [{ what: name }];
    return panels.includes(name) ? [{ what: 'panel', name }] : [];
  });
  return [...measured, ...others];
}

/** One chart or table alone would leave the stage empty, so the counts are its neighbour; a patch has its message. */
function filled(parts: readonly Part[]): readonly Part[] {
  return parts.length === 1 && parts[0]?.what !== 'patch' ? [...parts, { what: 'counts' }] : parts;
}

/** Before the first step: its words, evenly spread. */
function wordsOf({ terms, mails }: Pick<Whole, 'terms' | 'mails'>): readonly Slide[] {
  const names = terms.filter((term) => term.entry).map((term) => term.name);
  const mail = Object.keys(mails).length > 0;
  const slides = Math.max(mail ? 1 : 0, Math.ceil(names.length / mostTerms));
  const each = Math.ceil(names.length / Math.max(1, slides));
  return Array.from({ length: slides }, (_, i) => ({
    ...{ kind: 'words', terms: names.slice(i * each, (i + 1) * each), mail: mail && i === 0 },
  }));
}

/** Behind the last step. */
function recapOf({ explain, quiz }: Pick<Whole, 'explain' | 'quiz'>): readonly Slide[] {
  const asked = quiz.map((_q, i) => ({ kind: 'quiz' as const, questions: [i] }));
  return [...(explain === null ? [] : [{ kind: 'explain' as const }]), ...asked];
}

/** Where a press leads: a slide, of a question before or after its answer is shown. */
export interface Stop {
  readonly step: string;
  /** What the address says: the press within its step, from 1. */
  readonly press: number;
  readonly slide: Slide;
  /** The slide within the lesson, from 1. */
  readonly number: number;
  /** The answer to the question is shown. */
  readonly revealed: boolean;
}

const asking: ReadonlySet<SlideKind> = new Set<SlideKind>(['ask', 'explain', 'quiz']);

/** All stops of a lesson, in order. */
export function stopsOf(lesson: Whole, panels: readonly string[]): readonly Stop[] {
  let number = 0;
  const last = lesson.scenes.length - 1;
  return lesson.scenes.flatMap((scene, i) => {
    let press = 0;
    const slides = [
      ...(i === 0 ? wordsOf(lesson) : []),
      ...slidesOf(lesson, scene, panels),
      ...(i === last ? recapOf(lesson) : []),
    ];
    return slides.flatMap((slide) => {
      number += 1;
      const at = (revealed: boolean): Stop => {
        press += 1;
        return { step: scene.id, press, slide, number, revealed };
      };
      return asking.has(slide.kind) ? [at(false), at(true)] : [at(true)];
    });
  });
}

/** What is printed: a prediction stays open, our three sentences stand there, all questions share a page. */
export function paperStops(stops: readonly Stop[]): readonly Stop[] {
  const asked = stops.flatMap(({ slide, revealed }) =>
    slide.kind === 'quiz' && revealed ? slide.questions : [],
  );
  const printed = stops.filter(({ slide, revealed }) => {
    if (slide.kind === 'quiz') return !revealed && slide.questions[0] === asked[0];
    return slide.kind === 'ask' ? !revealed : revealed;
  });
  return printed.map((stop, i) => ({
    ...stop,
    number: i + 1,
    slide: stop.slide.kind === 'quiz' ? { kind: 'quiz', questions: asked } : stop.slide,
  }));
}

/** How many slides a deck has; a question and its answer are one. */
export function slideCount(stops: readonly Stop[]): number {
  return stops.at(-1)?.number ?? 0;
}

/** The stop that an address names; a press beyond the step's last is its last. */
export function stopAt(stops: readonly Stop[], step: string, press: number | null): number {
  const first = stops.findIndex((stop) => stop.step === step);
  const last = stops.findLastIndex((stop) => stop.step === step);
  return Math.max(0, Math.min(last, first + (press ?? 1) - 1));
}
