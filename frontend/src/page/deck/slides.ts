// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A lesson as slides: first its terms, then one to three slides per step, and finally the questions. Each press moves
 * to the next stop. Pure.
 */

import { t } from '../../base/lang/t.ts';
import { rightWords } from '../../panels/recap/memory.ts';
import type { Arm, Lesson, Scene } from '../../protocol/lesson.ts';

// The patches on a step's slide: lines that the step names, or patches that no earlier step has shown. Pure.

type Patched = Pick<Lesson, 'arms' | 'scenes'>;

interface Chosen {
  readonly what: 'patch';
  readonly arm: string;
  readonly at: readonly string[];
  /** Whether this step is the first that shows this patch. The first step also shows the patch's message. */
  readonly first: boolean;
}

const has = (arm: Arm, text: string) => arm.patch_texts.some((patch) => patch.text.includes(text));

/** One part per arm. A line that several arms have in common is shown only for the first of these arms. */
function patchParts(lesson: Patched, scene: Scene): readonly Chosen[] {
  if (!scene.show.includes('patch')) return [];
  const arms = patchedArms(lesson, scene);
  const before = shownBefore(lesson, scene);
  const chosen = ({ name }: Arm, at: readonly string[]): Chosen => ({
    ...{ what: 'patch', arm: name, at, first: !before.has(name) },
  });
  if (scene.patch_at.length === 0)
    return arms.filter((arm) => !before.has(arm.name)).map((arm) => chosen(arm, []));
  const first = (text: string) => arms.find((arm) => has(arm, text));
  return arms.flatMap((arm) => {
    const at = scene.patch_at.filter((text) => first(text) === arm);
    return at.length > 0 ? [chosen(arm, at)] : [];
  });
}

function patchedArms({ arms }: Patched, scene: Scene): readonly Arm[] {
  return arms.filter((arm) => scene.arms.includes(arm.name) && arm.patch_texts.length > 0);
}

/** Arms whose patch is on a slide of an earlier step. */
function shownBefore(lesson: Patched, scene: Scene): ReadonlySet<string> {
  const earlier = lesson.scenes.slice(0, lesson.scenes.indexOf(scene));
  const shown = new Set<string>();
  for (const one of earlier) {
    if (!one.show.includes('patch')) continue;
    for (const arm of patchedArms(lesson, one))
      if (one.patch_at.length === 0 || one.patch_at.some((text) => has(arm, text)))
        shown.add(arm.name);
  }
  return shown;
}

/** A part of a slide below the title: one of the parts listed here, or a panel of the view, by name. */
export type Part =
  | { readonly what: 'latency' | 'measured' | 'counts' }
  | { readonly what: 'panel'; readonly name: string }
  | {
      readonly what: 'patch';
      readonly arm: string;
      /**
       * Text fragments that select the lines to show. If there are none, the lines that are being executed are shown.
       */
      readonly at: readonly string[];
      /** Whether this step is the first that shows this patch. */
      readonly first: boolean;
    };

export type Slide =
  /** Terms that learners should know first. The first slide with terms also names the patch mail's author. */
  | { readonly kind: 'words'; readonly terms: readonly string[]; readonly mail: boolean }
  | { readonly kind: 'ask' | 'picture' | 'explain' }
  | { readonly kind: 'evidence'; readonly parts: readonly Part[] }
  /** Quiz questions by index. A printed deck has all of them on one page. */
  | { readonly kind: 'quiz'; readonly questions: readonly number[] };

export type SlideKind = Slide['kind'];

/** Maximum number of slides per step, without those for terms and questions. */
export const mostSlides = 3;
/** Maximum number of terms per slide. */
const mostTerms = 3;

type Given = Pick<Lesson, 'predictions' | 'arms' | 'scenes'>;
type Whole = Given & Pick<Lesson, 'terms' | 'mails' | 'explain' | 'quiz'>;

/** The slides of a step, in order. `panels` lists the names of the view's panels. */
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

/** A step's charts and tables; measured evidence comes first. */
function evidenceOf({ show }: Scene, panels: readonly string[]): readonly Part[] {
  const measured: readonly Part[] = show.includes('measured') ? [{ what: 'measured' }] : [];
  const others = show.flatMap((name): Part[] => {
    if (name === 'latency') return [{ what: name }];
    return panels.includes(name) ? [{ what: 'panel', name }] : [];
  });
  return [...measured, ...others];
}

/**
 * A single chart or table would leave half of the slide empty, so the counts are added. A patch needs no counts,
 * because the patch's message is shown next to it.
 */
function filled(parts: readonly Part[]): readonly Part[] {
  return parts.length === 1 && parts[0]?.what !== 'patch' ? [...parts, { what: 'counts' }] : parts;
}

/** Slides before the first step, with the lesson's terms spread evenly over them. */
function wordsOf({ terms, mails }: Pick<Whole, 'terms' | 'mails'>): readonly Slide[] {
  const names = terms.filter((term) => term.entry).map((term) => term.name);
  const mail = Object.keys(mails).length > 0;
  const slides = Math.max(mail ? 1 : 0, Math.ceil(names.length / mostTerms));
  const each = Math.ceil(names.length / Math.max(1, slides));
  return Array.from({ length: slides }, (_, i) => ({
    ...{ kind: 'words', terms: names.slice(i * each, (i + 1) * each), mail: mail && i === 0 },
  }));
}

/** Slides after the last step. */
function recapOf({ explain, quiz }: Pick<Whole, 'explain' | 'quiz'>): readonly Slide[] {
  const asked = quiz.map((_q, i) => ({ kind: 'quiz' as const, questions: [i] }));
  return [...(explain === null ? [] : [{ kind: 'explain' as const }]), ...asked];
}

/** A position of the deck. Slides with a question have two stops: before and after the answer is revealed. */
export interface Stop {
  readonly step: string;
  /** Number of the press within the step, from 1. The address contains this number as `slide`. */
  readonly press: number;
  readonly slide: Slide;
  /** Number of the slide within the lesson, from 1. */
  readonly number: number;
  /** Whether the question's answer is revealed. */
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

/**
 * Stops to print. The answers to predictions are omitted, the lesson's three sentences are included, and all quiz
 * questions share a page.
 */
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

/** Number of slides in a deck; a question and its answer count as one. */
export function slideCount(stops: readonly Stop[]): number {
  return stops.at(-1)?.number ?? 0;
}

/** Index of the stop that an address names; a press beyond the step's last stop selects the last stop. */
export function stopAt(stops: readonly Stop[], step: string, press: number | null): number {
  const first = stops.findIndex((stop) => stop.step === step);
  const last = stops.findLastIndex((stop) => stop.step === step);
  return Math.max(0, Math.min(last, first + (press ?? 1) - 1));
}

// The one-sentence claim of a step. Pure.

/** The claim that the step states. If the step states none, the first sentence of the step's text. */
export function claimOf(
  { content }: Pick<Lesson, 'content'>,
  { id, claim }: Pick<Scene, 'id' | 'claim'>,
): string {
  return claim || firstSentence(content[id] ?? '');
}

/**
 * The first sentence of a Markdown text, as plain text. It ends at a full stop that is followed by a space or by the
 * end of the text.
 */
export function firstSentence(markdown: string): string {
  const [paragraph = ''] = markdown.trim().split(/\n\s*\n/);
  const words = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`_#>]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.?!](?=\s|$)/.exec(words)?.[0] ?? words;
}

// The title of a slide, the speaker's text at a stop, and the name of the next stop. Pure.

type Shown = Pick<Stop, 'revealed' | 'slide'>;

const inThree = t('Explain it in three sentences');

/** The title of a slide. */
export function headOf(
  { question, quiz }: Pick<Lesson, 'question' | 'quiz'>,
  { title }: Pick<Scene, 'title'>,
  { slide }: Pick<Stop, 'slide'>,
): string {
  if (slide.kind === 'words') return question;
  if (slide.kind === 'explain') return inThree;
  if (slide.kind !== 'quiz') return title;
  const [first = 0, ...others] = slide.questions;
  return others.length > 0
    ? t('{quiz} questions', { quiz: quiz.length })
    : t('Question {first} of {quiz}', { first: first + 1, quiz: quiz.length });
}

/** The step's text in Markdown; the part below `---` is withheld until the answer is revealed. */
export function sayOf(
  content: Lesson['content'],
  scene: Pick<Scene, 'id' | 'predict'>,
  { revealed, slide: { kind } }: Shown,
): string {
  if (kind === 'words' || kind === 'explain' || kind === 'quiz') return '';
  const [before = '', after = ''] = (content[scene.id] ?? '').split(/^---$/m);
  if (!revealed) return before.trim();
  if (kind === 'ask') return after.trim() || before.trim();
  return [before, after]
    .map((text) => text.trim())
    .join('\n\n')
    .trim();
}

/** A hint for the speaker on slides that have no notes, because they belong to no step. */
export function hintOf({ kind }: Slide): string {
  if (kind === 'words')
    return t('Say each word once and point at its drawing. One minute is enough.');
  if (kind === 'explain')
    return t('Ask two students to explain it aloud. The next key press shows our explanation.');
  return kind === 'quiz'
    ? t('Count the raised hands, then press a key. Before you go on, ask one person for a reason.')
    : '';
}

/** The answer to a quiz question, which the speaker sees before it is revealed. */
export function answerOf(
  { explain, quiz }: Pick<Lesson, 'explain' | 'quiz'>,
  slide: Slide,
): string {
  if (slide.kind === 'explain') return explain?.ours.join(' ') ?? '';
  if (slide.kind !== 'quiz') return '';
  const asked = quiz[slide.questions[0] ?? 0];
  return asked === undefined ? '' : `${rightWords(asked)}. ${asked.why}`;
}

/**
 * The text printed below a slide. Each step's text is printed once; the part that a question withholds is printed below
 * the question's slide.
 */
export function paperSay(
  { content, quiz }: Pick<Lesson, 'content' | 'quiz'>,
  scene: Pick<Scene, 'id' | 'predict'>,
  stop: Shown,
): string {
  const { slide } = stop;
  if (slide.kind === 'quiz') {
    const answers = slide.questions.flatMap((i) => quiz[i] ?? []);
    return answers.map((one, i) => `**${i + 1}: ${rightWords(one)}.** ${one.why}`).join('\n\n');
  }
  if (slide.kind === 'evidence') return '';
  const asked = slide.kind === 'picture' && scene.predict !== null;
  return sayOf(content, scene, asked ? { revealed: true, slide: { kind: 'ask' } } : stop);
}

const kinds = {
  ask: t('the question'),
  picture: t('the picture'),
  evidence: t('the evidence'),
} as const;

/** The name of a stop, for the preview of the next stop. */
export function stopTitle(
  lesson: Pick<Lesson, 'question' | 'quiz'>,
  scene: Pick<Scene, 'title'>,
  { slide, revealed }: Shown,
): string {
  if (slide.kind === 'words')
    return t('First: {words}', { words: slide.terms.join(', ') || t('the mail') });
  const answered = revealed ? t(': the answer') : '';
  if (slide.kind === 'explain' || slide.kind === 'quiz')
    return `${headOf(lesson, scene, { slide })}${answered}`;
  if (slide.kind === 'ask' && revealed) return `${scene.title}${t(': the answer')}`;
  const patch = slide.kind === 'evidence' && slide.parts.every((part) => part.what === 'patch');
  return `${scene.title}: ${patch ? t('the patch') : kinds[slide.kind]}`;
}

const partWords: Readonly<Record<Exclude<Part['what'], 'panel'>, string>> = {
  latency: t('the duration of each operation'),
  measured: t('the measured table'),
  counts: 'counts',
  patch: t('the patch'),
};

/** A text with which the speaker can introduce the next stop. `panels` maps the names of panels to their titles. */
export function previewOf(
  lesson: Pick<Lesson, 'arms' | 'content' | 'predictions' | 'explain' | 'quiz'>,
  scene: Pick<Scene, 'id' | 'claim' | 'predict'>,
  { slide, revealed }: Shown,
  panels: Readonly<Record<string, { readonly title: string }>>,
): string {
  switch (slide.kind) {
    case 'words':
      return '';
    case 'ask':
      return revealed ? '' : (lesson.predictions[scene.predict ?? '']?.question ?? '');
    case 'picture':
      return claimOf(lesson, scene);
    case 'evidence': {
      const [part, ...others] = slide.parts;
      if (part?.what === 'patch' && others.length === 0) return subjectOf(lesson, part.arm);
      const named = slide.parts.map((part) =>
        part.what === 'panel' ? (panels[part.name]?.title ?? part.name) : partWords[part.what],
      );
      return [...new Set(named)].join(', ');
    }
    case 'explain':
      return revealed ? '' : (lesson.explain?.ask ?? '');
    case 'quiz':
      return revealed ? '' : (lesson.quiz[slide.questions[0] ?? 0]?.ask ?? '');
  }
}

/** The subject line of the patch's message. */
function subjectOf({ arms }: Pick<Lesson, 'arms'>, name: string): string {
  return arms.find((arm) => arm.name === name)?.patch_texts.at(-1)?.subject ?? '';
}
