// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import type { ComponentProps } from 'react';
import { afterEach, describe, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { readAnswers, writeAnswers } from './predict.ts';
import { PredictCard } from './predict-card.tsx';

afterEach(() => {
  cleanup();
  localStorage.clear();
});
const lesson = testLesson();
const nothing = () => {};

describe('predict, then check', () => {
  const card = (
    guess: number | null,
    answer: ComponentProps<typeof PredictCard>['answer'],
    unfit = '',
    revealed = false,
  ) =>
    render(
      <PredictCard
        prediction={lesson.predictions['three']!}
        guess={guess}
        answer={answer}
        unfit={unfit}
        revealed={revealed}
        plural="umounts"
        onGuess={(i) => writeAnswers(lesson.slug, { guesses: { three: i }, answered: [] })}
        onForget={nothing}
      />,
    );

  it('tells no truth before the guess, and keeps the guess', () => {
    const { container } = card(null, {
      words: 'So far 2.0 umounts on SRCU for ten on rwsem.',
      choice: 0,
    });
    expect(container.querySelector('[data-truth]')).toBeNull();
    expect(screen.queryByTestId('predict-truth')).toBeNull();
    fireEvent.click(screen.getByText('some'));
    expect(readAnswers(lesson.slug).guesses).toEqual({ three: 1 });
  });

  it('shows the answer without a guess where it is revealed to all', () => {
    const { container } = card(null, { words: 'Two for ten.', choice: 0 }, '', true);
    expect(container.querySelector('[data-truth]')?.textContent).toContain('few');
    expect(screen.getByTestId('predict-truth').textContent).toContain('Two for ten.');
  });

  it('then sets the guess against the events', () => {
    const { container } = card(1, {
      words: 'So far 2.0 umounts on SRCU for ten on rwsem.',
      choice: 0,
    });
    expect(container.querySelector('[data-truth]')?.textContent).toContain('few');
    expect(screen.getByTestId('predict-truth').textContent).toContain(
      'Counted: So far 2.0 umounts on SRCU for ten on rwsem.',
    );
    expect(screen.getByTestId('predict').textContent).toContain('You expected otherwise');
  });

  it('says so when the answer is a model’s', () => {
    const { container } = card(1, { words: 'Twice as many.', choice: 0, by: 'model' });
    expect(container.querySelector('[data-truth]')?.textContent).toContain('the model');
    expect(screen.getByTestId('predict-truth').textContent).toContain('Modelled: Twice as many.');
  });

  it('does not answer from a run with other knobs', () => {
    const { container } = card(
      1,
      { words: 'So far 2.0 umounts on SRCU for ten on rwsem.', choice: 0 },
      'It takes a run with 3 hogs.',
    );
    expect(container.querySelector('[data-truth]')).toBeNull();
    expect(screen.getByTestId('predict-truth').textContent).toContain('3 hogs');
  });

  it('survives a broken store', () => {
    localStorage.setItem(`duet.${lesson.slug}`, '{"guesses": 7, "answered": "x"');
    expect(readAnswers(lesson.slug)).toEqual({ guesses: {}, answered: [] });
  });
});
