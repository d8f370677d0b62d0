// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { reached, readable, StepNav } from './story.tsx';

describe('story', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later

  afterEach(() => {
    cleanup();
    localStorage.clear();
  });
  const lesson = testLesson();

  describe('the steps', () => {
    it('arrows walk the steps while they have the focus', () => {
      const onStep = vi.fn();
      render(<StepNav lesson={lesson} scene={lesson.scenes[0]!} onStep={onStep} />);
      fireEvent.keyDown(screen.getByRole('button', { name: 'Step 1: One' }), { key: 'ArrowRight' });
      expect(onStep).toHaveBeenCalledWith('three');
    });
  });
});

describe('reading', () => {
  const [one, asks, last] = ['one', 'asks', 'last'].map((id) => ({
    ...testLesson().scenes[0]!,
    id,
  })) as [never, never, never];
  const scenes = [one, asks, last];
  const all = (now: never, asking: readonly never[]) =>
    scenes.map((step) => readable(scenes, now, step, asking));

  test('no text stands there that may answer a question which is still open', () => {
    expect(all(one, [asks])).toEqual(['all', 'question', 'title']);
    expect(all(asks, [asks])).toEqual(['all', 'question', 'title']);
    expect(all(asks, [])).toEqual(['all', 'all', 'all']);
  });

  test('whoever is past a question has what comes after it', () => {
    expect(all(last, [asks])).toEqual(['all', 'question', 'all']);
  });

  test('the step is reached whose text has come up to the line', () => {
    const texts = [
      { id: 'one', top: -300 },
      { id: 'asks', top: 250 },
      { id: 'last', top: 900 },
    ];
    expect(reached(texts, 280)).toBe('asks');
    expect(reached(texts, 200)).toBe('one');
    expect(reached(texts, -400)).toBeNull();
  });
});
