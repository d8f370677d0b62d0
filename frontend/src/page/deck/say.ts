// SPDX-License-Identifier: GPL-2.0-or-later
/** What stands over a slide, what a speaker says at a stop, and what comes next. Pure. */

import { t } from '../../base/lang/t.ts';
import { rightWords } from '../../panels/recap/memory.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import { claimOf } from './claim.ts';
import type { Part, Slide, Stop } from './slides.ts';

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

/** Markdown of the step's text. Until the answer is shown, what stands below the line of three dashes waits. */
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

/** What the speaker does where no step has notes for it. */
export function hintOf({ kind }: Slide): string {
  if (kind === 'words')
    return t('Say each word once and point at its drawing. One minute is enough.');
  if (kind === 'explain') return t('Let two of them try aloud. The next press shows ours.');
  return kind === 'quiz' ? t('Count hands, then press. Ask one of them why before you go on.') : '';
}

/** The answer of a question at the end, before the wall shows it. */
export function answerOf(
  { explain, quiz }: Pick<Lesson, 'explain' | 'quiz'>,
  slide: Slide,
): string {
  if (slide.kind === 'explain') return explain?.ours.join(' ') ?? '';
  if (slide.kind !== 'quiz') return '';
  const asked = quiz[slide.questions[0] ?? 0];
  return asked === undefined ? '' : `${rightWords(asked)}. ${asked.why}`;
}

/** What stands under a slide on paper: a step's text once, behind its question what the question keeps back. */
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

/** What a stop is called where the next one is announced. */
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
  latency: t('how long each took'),
  measured: t('the measured table'),
  counts: 'counts',
  patch: t('the patch'),
};

/** One sentence of a stop, so that the speaker can lead over to it; `panels`: titles by name. */
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

/** Of the patch's own message. */
function subjectOf({ arms }: Pick<Lesson, 'arms'>, name: string): string {
  return arms.find((arm) => arm.name === name)?.patch_texts.at(-1)?.subject ?? '';
}

/** "4:07", "1:02:30" */
export function clockWords(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [h, m] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
