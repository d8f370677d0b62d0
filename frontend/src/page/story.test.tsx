// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { StepNav } from './step-nav.tsx';

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
