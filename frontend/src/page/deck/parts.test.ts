// SPDX-License-Identifier: GPL-2.0-or-later
/** What slides are made of: an excerpt of a patch, words to say, hands, and the size of it all. */

import { describe, expect, it } from 'vitest';
import { type PatchLine, parsePatch } from '../../panels/patch.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { deckScale, sheetStyle, withHand } from './deck-page.tsx';
import { clockWords, paceWords, plannedOf } from './elapsed.tsx';
import { excerptOf, messageOf } from './evidence-slide.tsx';
import { scaleToFill } from './handout-page.tsx';
import { pack, splitInOrder } from './pack.ts';
import {
  answerOf,
  claimOf,
  firstSentence,
  hintOf,
  paperSay,
  previewOf,
  type Slide,
  type Stop,
  sayOf,
  stopTitle,
} from './slides.ts';

const body = (name: string, n: number) =>
  [
    `@@ -1,1 +1,${n + 1} @@ int ${name}(void)`,
    ' {',
    ...Array.from({ length: n }, (_, i) => `+\t${name}_${i}();`),
  ].join('\n');
const files = parsePatch(
  ['+++ b/mm/a.c', body('one', 5), body('two', 12), body('three', 3)].join('\n'),
);

describe('an excerpt of a patch', () => {
  it('is all of it where there is room', () => {
    const { hunks, left } = excerptOf(files, () => false, 99);
    expect(hunks.map((hunk) => [hunk.where, hunk.lines.length, hunk.cut])).toEqual([
      ['one()', 6, false],
      ['two()', 13, false],
      ['three()', 4, false],
    ]);
    expect(left).toBe(0);
  });

  it('has the hunks that matter alone, in the order of the patch, and counts what is left out', () => {
    const matters = (line: PatchLine) => /two_1$|three_1/.test(line.text.replace('();', ''));
    const { hunks, left } = excerptOf(files, matters, 16);
    expect(hunks.map((hunk) => [hunk.where, hunk.lines.length, hunk.cut])).toEqual([
      ['two()', 13, false],
    ]);
    expect(left).toBe(20 - 12);
    expect(excerptOf(files, matters, 99).hunks.map((hunk) => hunk.where)).toEqual([
      'two()',
      'three()',
    ]);
  });

  it('has those that add most where no line matters', () => {
    const { hunks } = excerptOf(files, () => false, 16);
    expect(hunks.map((hunk) => hunk.where)).toEqual(['two()']);
  });

  it('cuts a long hunk around the line that matters', () => {
    const { hunks } = excerptOf(files, (line) => line.text.includes('two_9'), 8);
    expect(hunks).toHaveLength(1);
    expect(hunks[0]?.lines.map((line) => line.text)).toContain('\ttwo_9();');
    const far = excerptOf(files, (line) => /two_(1|11)\b/.test(line.text), 8);
    expect(far.hunks[0]?.lines.map((line) => line.text)).toContain('\ttwo_11();');
  });
});

it('a message of a patch is its prose', () => {
  const body = 'It was\nslow.\n\n  a table\n\nBased-on: x\n\nNow it is not.';
  expect(messageOf(body)).toEqual(['It was slow.', 'Now it is not.']);
  expect(messageOf(`${'a'.repeat(800)}\n\n${'b'.repeat(800)}`)).toHaveLength(1);
  expect(messageOf('')).toEqual([]);
});

describe('what is said', () => {
  const content = { one: 'First.\n\n---\n\nThen.' };
  const quiz = [
    {
      ask: 'Who waits?',
      choices: ['nobody', 'all'],
      right: 2,
      why: 'They share a lock.',
      unit: '',
    },
    { ask: 'How many?', choices: [], right: null, number: 10000, why: 'Squared.', unit: 'pairs' },
  ] as unknown as Lesson['quiz'];
  const explain = { ask: 'Why?', ours: ['A.', 'B.', 'C.'] };
  const predictions = { guess: { question: 'What comes?' } } as unknown as Lesson['predictions'];
  const arms = [{ name: 'a', patch_texts: [{ subject: 'mm: wait' }] }] as unknown as Lesson['arms'];
  const lesson = { arms, content, quiz, explain, predictions, question: 'Why is it slow?' };
  const scene = { id: 'one', predict: 'guess', title: 'One', claim: 'It waits.' };
  const stop = (slide: Partial<Slide> & Pick<Slide, 'kind'>, revealed = true) =>
    ({
      slide: { parts: [], questions: [1], terms: ['RCU', 'tick'], ...slide },
      revealed,
    }) as unknown as Stop;

  it('keeps the answer back until it is on the wall', () => {
    expect(sayOf(content, scene, stop({ kind: 'ask' }, false))).toBe('First.');
    expect(sayOf(content, scene, stop({ kind: 'ask' }))).toBe('Then.');
    expect(sayOf(content, scene, stop({ kind: 'picture' }))).toBe('First.\n\nThen.');
    expect(sayOf({}, scene, stop({ kind: 'picture' }))).toBe('');
    expect(sayOf(content, scene, stop({ kind: 'quiz' }))).toBe('');
  });

  it('stands on paper once, and answers below the questions', () => {
    const at = (kind: Slide['kind']) => paperSay(lesson, scene, stop({ kind }, kind !== 'ask'));
    expect([at('ask'), at('picture'), at('evidence')]).toEqual(['First.', 'Then.', '']);
    const plain = { ...scene, predict: null };
    expect(paperSay(lesson, plain, stop({ kind: 'picture' }))).toBe('First.\n\nThen.');
    expect(paperSay(lesson, plain, stop({ kind: 'quiz', questions: [0, 1] }, false))).toBe(
      '**1: all.** They share a lock.\n\n**2: 10,000 pairs.** Squared.',
    );
  });

  it('names a stop, and says a sentence of it', () => {
    const said = (...of: Parameters<typeof stop>) => {
      const at = stop(...of);
      return [stopTitle(lesson, scene, at), previewOf(lesson, scene, at, { p: { title: 'Cost' } })];
    };
    const patch = { what: 'patch', arm: 'a', at: [], first: true } as const;
    expect(said({ kind: 'words' })).toEqual(['First: RCU, tick', '']);
    expect(said({ kind: 'ask' }, false)).toEqual(['One: the question', 'What comes?']);
    expect(said({ kind: 'ask' })).toEqual(['One: the answer', '']);
    expect(said({ kind: 'picture' })).toEqual(['One: the picture', 'It waits.']);
    expect(said({ kind: 'evidence', parts: [patch] })).toEqual(['One: the patch', 'mm: wait']);
    expect(
      said({ kind: 'evidence', parts: [patch, { what: 'panel', name: 'p' }, { what: 'latency' }] }),
    ).toEqual(['One: the evidence', 'the patch, Cost, the duration of each operation']);
    expect(said({ kind: 'explain' }, false)).toEqual(['Explain it in three sentences', 'Why?']);
    expect(said({ kind: 'quiz' }, false)).toEqual(['Question 2 of 2', 'How many?']);
    expect(said({ kind: 'quiz' })).toEqual(['Question 2 of 2: the answer', '']);
  });

  it('gives the speaker answers at the end, and a hint where no step has notes', () => {
    expect(answerOf(lesson, stop({ kind: 'quiz' }).slide)).toBe('10,000 pairs. Squared.');
    expect(answerOf(lesson, stop({ kind: 'explain' }).slide)).toBe('A. B. C.');
    expect(answerOf(lesson, stop({ kind: 'picture' }).slide)).toBe('');
    for (const kind of ['words', 'explain', 'quiz'] as const)
      expect(hintOf(stop({ kind }).slide)).not.toBe('');
    expect(hintOf(stop({ kind: 'picture' }).slide)).toBe('');
  });

  it('claims what the step says, or else the first sentence of its text', () => {
    expect(claimOf(lesson, scene)).toBe('It waits.');
    expect(claimOf(lesson, { id: 'one', claim: '' })).toBe('First.');
    expect(claimOf(lesson, { id: 'none', claim: '' })).toBe('');
    expect(firstSentence('A **bold** [link](x) of 6.1\nwaits for `it()`. Then.\n\nMore.')).toBe(
      'A bold link of 6.1 waits for it().',
    );
    expect(firstSentence('No full stop here')).toBe('No full stop here');
  });

  it('tells the time', () => {
    expect([0, 61_000, 3_723_000, -5].map(clockWords)).toEqual(['0:00', '1:01', '1:02:03', '0:00']);
  });

  it('and how far it is from the plan', () => {
    const scenes = [
      { id: 'a', minutes: 4 },
      { id: 'b', minutes: 6 },
    ];
    expect(plannedOf(scenes, 'b')).toEqual({ from: 4, to: 10, total: 10 });
    expect(plannedOf(scenes, 'c')).toBeNull();
    expect(plannedOf([{ id: 'a', minutes: 0 }], 'a')).toBeNull();
    const pace = (minutes: number) => paceWords(minutes * 60_000, { from: 4, to: 10, total: 10 });
    expect([pace(1.5), pace(4), pace(10), pace(12.2)]).toEqual([
      ...['3 min ahead', 'on time', 'on time', '3 min behind'],
    ]);
  });
});

it('hands are counted, and never fewer than none', () => {
  expect(withHand([], 2, 1)).toEqual([0, 0, 1]);
  expect(withHand([1, 0, 1], 1, -1)).toEqual([1, 0, 1]);
});

describe('the size of a slide', () => {
  it('makes 13 px of the page 20 px at 1920x1080, and fills any window', () => {
    expect(13 * deckScale(1920, 1080)).toBeGreaterThanOrEqual(20);
    for (const [w, h] of [
      [1920, 1080],
      [1280, 720],
      [390, 844],
    ] as const) {
      const { width, height } = sheetStyle(w, h);
      expect(Number(width) * deckScale(w, h)).toBeCloseTo(w);
      expect(Number(height) * deckScale(w, h)).toBeCloseTo(h);
    }
  });

  it('shows content as large as the box holds it', () => {
    const box = { width: 1000, height: 500 };
    expect(scaleToFill(box, () => 100)).toBeCloseTo(2.2);
    expect(scaleToFill(box, () => 400)).toBeCloseTo(1.25);
    expect(scaleToFill(box, () => 5000)).toBeCloseTo(0.7);
  });

  it('lets cards stand whole and in order, the highest column as low as can be', () => {
    expect(splitInOrder([10, 10, 10, 30], 2, 0)).toEqual([[0, 1, 2], [3]]);
    expect(splitInOrder([10, 10, 10], 3, 5)).toEqual([[0], [1], [2]]);
    expect(splitInOrder([10], 3, 5)).toEqual([[0]]);
    expect(splitInOrder([30, 1, 1], 2, 5)).toEqual([[0], [1, 2]]);
  });

  it('shows cards as large as all fit, and never below the smallest scale', () => {
    const box = { width: 1000, height: 500 };
    const limits = { least: 1, most: 1.9, columns: [1, 2], gap: 0 };
    expect(pack(box, () => [100, 100], limits)).toMatchObject({ scale: 1.9, fits: true });
    expect(pack(box, () => [300], { ...limits, columns: [1, 2, 3] }).columns).toEqual([[0]]);
    // One column holds both up to 1.25, two hold them up to 1.65.
    const high = pack(box, () => [200, 300], limits);
    expect(high.scale).toBeCloseTo(1.65);
    expect(high.columns).toEqual([[0], [1]]);
    const far = pack(box, () => [400, 900], limits);
    expect(far).toMatchObject({ scale: 1, fits: false, columns: [[0], [1]] });
    // A table that is wider than its column needs the whole width.
    const wide = pack(
      box,
      (width) => (width < 900 ? [Number.POSITIVE_INFINITY, 10] : [100, 100]),
      limits,
    );
    expect(wide).toMatchObject({ fits: true, columns: [[0, 1]] });
  });
});
