// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { CaveatDialog, Questions } from './dialogs.tsx';

describe('caveats', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** Caveats are prose like any other: code is code, emphasis is emphasis, and no mark of Markdown is left. */

  afterEach(cleanup);

  it('reads code and emphasis in caveats', () => {
    const lesson = {
      ...testLesson(),
      caveats: ['The knob `what` gives 3, *never* 2.', 'A plain one.'],
    };
    render(<CaveatDialog lesson={lesson} open onClose={() => {}} />);
    const sheet = screen.getByTestId('caveats-sheet');
    const items = [...sheet.querySelectorAll('li')];
    expect(items.map((item) => item.innerHTML)).toEqual([
      'The knob <code>what</code> gives 3, <em>never</em> 2.',
      'A plain one.',
    ]);
    expect(sheet.querySelector('li p')).toBeNull();
  });
});

describe('questions', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** A question that another step's picture answers leads to that step. */

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
});
