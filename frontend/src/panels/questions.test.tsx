// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** A question that another step's picture answers leads to that step. */

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { Questions } from './dialogs.tsx';

afterEach(cleanup);

function shown(scene: string, answered: readonly number[] = [], said = '') {
  const onStep = vi.fn();
  render(
    <Questions
      lesson={testLesson()}
      file={() => ''}
      answered={answered}
      asking={null}
      said={said}
      scene={scene}
      onAsk={() => {}}
      onForget={() => {}}
      onStep={onStep}
    />,
  );
  return onStep;
}

it('leads to the step whose picture answers it', () => {
  const onStep = shown('one');
  const link = screen.getByTestId('question-step-0');
  expect(link.textContent).toBe('its picture: “Three”');
  fireEvent.click(link);
  expect(onStep).toHaveBeenCalledWith('three', 0);
});

it('leads nowhere in that step', () => {
  shown('three');
  expect(screen.queryByTestId('question-step-0')).toBeNull();
});

it('leads nowhere when it is answered', () => {
  shown('one', [0]);
  expect(screen.queryByTestId('question-step-0')).toBeNull();
});

it('says beside the list what is to be done before a mark can answer', () => {
  shown('one', [], 'Choose a question first.');
  expect(screen.getByTestId('answer').textContent).toBe('Choose a question first.');
});
