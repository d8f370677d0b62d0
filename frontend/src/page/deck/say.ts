// SPDX-License-Identifier: GPL-2.0-or-later
/** What a speaker says at a stop: the notes of the step, and its text. Pure. */

import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { Slide, Stop } from './slides.ts';

/** Markdown. Until the answer is shown, what stands below the line of three dashes waits. */
export function sayOf(
  content: Lesson['content'],
  scene: Pick<Scene, 'id' | 'predict'>,
  stop: Pick<Stop, 'revealed' | 'slide'>,
): string {
  const [before = '', after = ''] = (content[scene.id] ?? '').split(/^---$/m);
  if (!stop.revealed) return before.trim();
  if (stop.slide.kind === 'ask') return after.trim() || before.trim();
  return [before, after]
    .map((text) => text.trim())
    .join('\n\n')
    .trim();
}

/** What stands under a slide on paper: a step's text once, behind its question what the question keeps back. */
export function paperSay(
  content: Lesson['content'],
  scene: Pick<Scene, 'id' | 'predict'>,
  stop: Pick<Stop, 'revealed' | 'slide' | 'press'>,
): string {
  if (stop.slide.kind === 'evidence') return '';
  const asked = stop.slide.kind === 'picture' && stop.press > 1;
  return sayOf(
    content,
    scene,
    asked ? { revealed: true, slide: { kind: 'ask', parts: [] } } : stop,
  );
}

const kinds: Readonly<Record<Slide['kind'], string>> = {
  ask: 'the question',
  picture: 'the picture',
  evidence: 'the evidence',
};

/** What a stop is called where the next one is announced. */
export function stopTitle(scene: Pick<Scene, 'title'>, stop: Stop): string {
  const { slide, revealed } = stop;
  const patch = slide.parts.length > 0 && slide.parts.every((part) => part.what === 'patch');
  const kind = patch ? 'the patch' : kinds[slide.kind];
  return `${scene.title}: ${slide.kind === 'ask' && revealed ? 'the answer' : kind}`;
}

/** "4:07", "1:02:30" */
export function clockWords(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [h, m] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
