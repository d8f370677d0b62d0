// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../../test/fixtures/lesson.ts';
import type { QuizQuestion } from '../../protocol/lesson.ts';
import {
  certificateJson,
  certificateSvg,
  isRight,
  type Progress,
  progressOf,
  readProgress,
  readRecap,
  typedNumber,
} from './memory.ts';
import { RecapDialog } from './recap.tsx';

const asked: QuizQuestion = {
  ...{ ask: 'Who waits?', choices: ['nobody', 'all'], right: 2, number: null, within: 0 },
  ...{ unit: '', why: 'They share a lock.', step: 'one' },
};
const number: QuizQuestion = {
  ...{ ask: 'How many?', choices: [], right: null, number: 10000, within: 0, unit: 'pairs' },
  ...{ why: 'A hundred times a hundred.', step: null },
};
const scene = { id: 'one', title: 'One step', arms: ['srcu'], predict: 'fewer' };
const lesson = {
  ...testLesson,
  scenes: [{ ...testLesson.scenes[0]!, ...scene }],
  explain: { ask: 'Why?', ours: ['First.', 'Second.', 'Third.'] },
  quiz: [asked, number],
};
const answers = { guesses: { fewer: 1 }, answered: [], truths: { fewer: 2 } };

beforeEach(() => localStorage.clear());
afterEach(cleanup);

function open() {
  const onStep = vi.fn();
  const rest = { onStep, onQuestions: vi.fn(), onClose: vi.fn() };
  const next = { question: 'And then?', address: '?lesson=b' };
  render(<RecapDialog open {...{ lesson, answers, next, ...rest }} />);
  return onStep;
}

describe('the recap', () => {
  it('saves three sentences in this browser, and then shows ours beside them', () => {
    open();
    expect(screen.queryByTestId('ours')).toBeNull();
    fireEvent.change(screen.getByTestId('mine'), { target: { value: 'They wait.' } });
    fireEvent.click(screen.getByText('compare with ours'));
    expect(within(screen.getByTestId('ours')).getAllByRole('listitem')).toHaveLength(3);
    expect(readRecap(lesson.slug)).toMatchObject({ mine: 'They wait.', compared: true });
  });

  it('judges a choice, explains it, and leads to the step', () => {
    const onStep = open();
    const [first] = screen.getAllByTestId('quiz-question');
    fireEvent.click(within(first!).getByText('nobody'));
    expect(first!.textContent).toContain('No: all. They share a lock.');
    fireEvent.click(within(first!).getByText('see it in “One step”'));
    expect(onStep).toHaveBeenCalledWith('one');
    expect(readRecap(lesson.slug).given).toEqual({ 0: 1 });
  });

  it('judges a number, and asks again for what is none', () => {
    open();
    const second = screen.getAllByTestId('quiz-question')[1]!;
    const field = within(second).getByRole('textbox');
    fireEvent.change(field, { target: { value: 'many' } });
    fireEvent.click(within(second).getByText('answer'));
    expect(within(second).getByRole('alert').textContent).toContain('Type a number');
    fireEvent.change(field, { target: { value: '10,000' } });
    fireEvent.click(within(second).getByText('answer'));
    expect(second.textContent).toContain('Right. A hundred times a hundred.');
    expect(screen.getByTestId('quiz-score').textContent).toContain('1 of 1');
    expect(readProgress()[lesson.slug]?.quiz).toEqual([1, 2]);
  });

  it('says what was predicted and what it is, and names the next lesson', () => {
    open();
    expect(screen.getByTestId('predicted').textContent).toContain(
      'Your prediction: some. The answer is: most.',
    );
    const link = within(screen.getByTestId('next-lesson')).getByRole('link');
    expect(link.getAttribute('href')).toBe('?lesson=b');
  });

  it('is empty again where the browser has nonsense', () => {
    localStorage.setItem(`duet.${lesson.slug}.recap`, '{"mine": 3, "given": null}');
    localStorage.setItem('duet.progress', '{"a": {"title": 1}, "b": null}');
    expect(readRecap(lesson.slug)).toEqual({ mine: '', compared: false, given: {} });
    expect(readProgress()).toEqual({});
  });
});

describe('an answer', () => {
  it.each([
    ['10,000', 10000],
    ['10 000', 10000],
    [' 2.5 ', 2.5],
    ['-4', -4],
    ['', undefined],
    ['4 ms', undefined],
    ['1e3', undefined],
  ])('%j is %s', (text, value) => expect(typedNumber(text)).toBe(value));

  it('is right within its limits', () => {
    expect(isRight({ ...number, within: 1 }, 9999)).toBe(true);
    expect(isRight(number, 9999)).toBe(false);
    expect(isRight(asked, undefined)).toBe(false);
  });
});

describe('the certificate', () => {
  const progress: Progress = progressOf(
    { ...lesson, title: 'A <b> & c' },
    { ...answers, truths: { fewer: 1 } },
    { mine: 'x', compared: true, given: { 0: 2, 1: 1 } },
    '2026-01-02',
  );

  it('counts what was right', () => {
    expect(progress).toMatchObject({ explained: true, quiz: [1, 2], predicted: [1, 1] });
  });

  it('is JSON and a picture, and both say what they are', () => {
    const all = { '02-b': progress, '01-a': progress };
    const tree = JSON.parse(certificateJson(all, '2026-01-03')) as {
      lessons: { lesson: string }[];
    };
    expect(tree.lessons.map((one) => one.lesson)).toEqual(['01-a', '02-b']);
    const svg = certificateSvg(all, '2026-01-03');
    const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    expect(root.localName).toBe('svg');
    expect(svg).toContain('A &lt;b&gt; &amp; c');
    for (const text of [svg, JSON.stringify(tree)])
      expect(text).toContain('the certificate proves nothing');
  });
});
