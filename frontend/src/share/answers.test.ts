// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { answersMark } from '../navigation/place.ts';
import type { Answers } from '../panels/predict.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { answersLink, hasAnswers, mostChars, packAnswers, unpackAnswers } from './answers.ts';

const [prediction] = Object.values(testLesson().predictions);
const asked = { ...prediction!, choices: ['few', 'some', 'many'] };
const quiz = {
  ask: '',
  choices: [],
  right: null,
  number: null,
  within: 0,
  unit: '',
  why: '',
  step: '',
};
const lesson: Lesson = {
  ...testLesson(),
  predictions: { first: asked, second: asked, third: asked },
  questions: ['a', 'b', 'c'].map((ask) => ({ ...testLesson().questions[0]!, ask })),
  quiz: [
    { ...quiz, choices: ['yes', 'no'], right: 1 },
    { ...quiz, number: 10_000 },
    { ...quiz, number: 2.5 },
  ],
};
const answers: Answers = {
  guesses: { first: 2, second: 0 },
  truths: { first: 2, third: 1 },
  answered: [0, 2],
};
const given = { 0: 2, 1: -0.25 };
const packed = packAnswers(lesson, answers, given) ?? '';

/** Why the link is refused; empty if it is not. */
function whyNot(hash: string, to: Lesson = lesson): string {
  const unpacked = unpackAnswers(hash, to);
  return unpacked.ok ? '' : unpacked.why;
}

it('brings back what it was given, in the order of the lesson', () => {
  expect(unpackAnswers(packed, lesson)).toEqual({
    ok: true,
    answers: {
      predictions: [
        { guess: 2, truth: 2 },
        { guess: 0, truth: null },
        { guess: null, truth: 1 },
      ],
      pointed: [true, false, true],
      quiz: [2, -0.25, null],
    },
  });
});

it('takes no answer that the question does not offer', () => {
  const odd = packAnswers(lesson, { guesses: { first: 3 }, answered: [] }, { 0: 3 }) ?? '';
  const unpacked = unpackAnswers(odd, lesson);
  expect(unpacked.ok && unpacked.answers.predictions[0]?.guess).toBeNull();
  expect(unpacked.ok && unpacked.answers.quiz[0]).toBeNull();
});

it('holds no words of the viewer, and is short', () => {
  expect(packed).toMatch(
    /^#answers=1~02-grace-periods~[0-9a-f]{4}~220__1~101~2,-0\.25,_~[0-9a-f]{4}$/,
  );
  expect(packed.length).toBeLessThan(80);
});

it('is a link to the lesson alone, whatever the page shows', () => {
  const here = 'https://host.example/duet/?lesson=02-grace-periods&step=ticks&at=3&class=x#other';
  expect(answersLink(lesson.slug, packed, here)).toBe(
    `https://host.example/duet/?lesson=02-grace-periods${packed}`,
  );
});

it('knows whether there is anything to take away', () => {
  const empty: Answers = { guesses: {}, answered: [] };
  expect(hasAnswers(empty, {})).toBe(false);
  expect(hasAnswers(empty, { 0: 1 })).toBe(true);
  expect(hasAnswers(answers, {})).toBe(true);
});

it('refuses to write or read what is longer than a code', () => {
  const long = { ...lesson, quiz: Array.from({ length: 60 }, () => quiz) };
  const numbers = Object.fromEntries(long.quiz.map((_, i) => [i, 1234567.125]));
  expect(packAnswers(long, answers, numbers)).toBeNull();
  const n = mostChars + 1;
  expect(whyNot(answersMark + '1'.repeat(n))).toContain(
    `at most ${mostChars} characters of answers, but this one has ${n}`,
  );
});

it('says that a link is damaged, wherever it is', () => {
  const damaged = 'a part of it is missing or changed';
  for (let at = answersMark.length; at < packed.length; at++) {
    expect(whyNot(packed.slice(0, at))).toContain(damaged);
    const other = packed[at] === '0' ? 'x' : '0';
    expect(whyNot(packed.slice(0, at) + other + packed.slice(at + 1)), `at ${at}`).not.toBe('');
  }
  for (const hash of [answersMark, `${answersMark}%`, `${answersMark}~~~~~~`, `${answersMark}<b>`])
    expect(whyNot(hash)).toContain(damaged);
});

it('names the version, the lesson or the edition that it did not expect', () => {
  expect(whyNot(packed.replace('=1~', '=2~'))).toContain(
    'version 1, but the link brings version 2',
  );
  const elsewhere = { ...lesson, slug: '01-shrinker-bitmaps' };
  expect(whyNot(packed, elsewhere)).toContain(
    'the lesson 01-shrinker-bitmaps, but the link brings answers to 02-grace-periods',
  );
  const newer = { ...lesson, questions: lesson.questions.slice(1) };
  expect(whyNot(packed, newer)).toContain('another edition of the lesson');
});

it('reads a translated lesson as the same edition', () => {
  const german = Object.fromEntries(
    Object.entries(lesson.predictions).map(([id, one]) => [id, { ...one, question: 'Wie viele?' }]),
  );
  expect(unpackAnswers(packed, { ...lesson, predictions: german }).ok).toBe(true);
});
