// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { PatchPanel } from './patch-panel.tsx';

afterEach(() => {
  cleanup();
  localStorage.clear();
});
const lesson = testLesson();
const nothing = () => {};

describe('the patch', () => {
  const shown = (n: number) =>
    render(
      <PatchPanel
        lesson={lesson}
        arms={['rwsem', 'srcu']}
        arm="srcu"
        open={(_arm, kind) => (kind === 'srcu_call' ? n : 0)}
        occurs={() => true}
        onArm={nothing}
      />,
    );

  it('lights the line whose function runs, once, and counts who stands there', () => {
    const { container } = shown(7);
    const lit = [...container.querySelectorAll('[data-lit]')];
    expect(lit.map((l) => l.firstChild?.nextSibling?.textContent)).toEqual([
      'synchronize_srcu(&shrinker_srcu);',
    ]);
    expect(lit[0]).toHaveProperty('dataset.lit', 'wait');
    expect(screen.getByTestId('standing-srcu_call').textContent).toBe(
      '7 hogs stand on this line now',
    );
  });

  it('goes dark when nobody is inside', () => {
    const { container } = shown(0);
    expect(container.querySelectorAll('[data-lit]')).toHaveLength(0);
    expect(screen.getByTestId('standing-srcu_call').textContent).toContain('no hog');
  });

  it('has signs, not only colours, and says that stock has none', () => {
    const { container } = shown(0);
    const signs = [...container.querySelectorAll('.patch-line i')].map((i) => i.textContent);
    expect(new Set(signs)).toEqual(new Set([' ', '+', '−']));
    cleanup();
    render(
      <PatchPanel
        lesson={lesson}
        arms={['rwsem']}
        arm="rwsem"
        open={() => 0}
        occurs={() => true}
        onArm={nothing}
      />,
    );
    expect(screen.getByTestId('patch').textContent).toContain('No patch');
  });
});
