// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
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
      '7 hogs are on this line now',
    );
  });

  it('says of a change whose text is not here that it is not', () => {
    const own = { ...lesson.arms[1]!, name: 'own-srcu-0123456789' };
    render(
      <PatchPanel
        lesson={{ ...lesson, arms: [...lesson.arms, own] }}
        arms={['srcu', 'own-srcu-0123456789']}
        arm="own-srcu-0123456789"
        open={() => 0}
        occurs={() => true}
        onArm={nothing}
      />,
    );
    expect(screen.getByTestId('visitors').textContent).toContain(
      'The change itself is not on this page',
    );
  });

  it('shows of an own arm the change alone, against the arm that it was made from', () => {
    const srcu = lesson.arms[1]!;
    const text = 'diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+long a;\n';
    const patch_texts = [...srcu.patch_texts, { file: 'own', subject: '', body: '', text }];
    const own = { ...srcu, name: 'own-1', title: 'your change', patch_texts };
    const { container } = render(
      <PatchPanel
        lesson={{ ...lesson, arms: [...lesson.arms, own] }}
        arms={['rwsem', 'srcu', 'own-1']}
        arm="own-1"
        open={() => 0}
        occurs={() => true}
        onArm={nothing}
        tool={<button type="button">change it</button>}
      />,
    );
    expect(screen.getByTestId('patch-way').textContent).toContain('− SRCU + your change');
    const lines = [...container.querySelectorAll('.patch-line')].map((line) => line.textContent);
    expect(lines).toEqual(['−int a;', '+long a;']);
    expect(screen.getByText('change it')).toBeTruthy();
    expect(screen.getByTestId('visitors').textContent).toContain('change to SRCU on');
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

describe('both ends of a patch', () => {
  const [stock, patched] = lesson.arms;
  /** The same kernels in another time: what has the patch is what was before. */
  const old = {
    ...lesson,
    arms: [
      { ...stock!, role: 'after' as const },
      { ...patched!, role: 'before' as const },
    ],
  };
  const show = (arm: string, more: Partial<Parameters<typeof PatchPanel>[0]> = {}) =>
    render(
      <PatchPanel
        lesson={old}
        arms={old.arms.map(({ name }) => name)}
        arm={arm}
        open={() => 0}
        occurs={() => true}
        onArm={nothing}
        {...more}
      />,
    );
  const gone = () =>
    [...document.querySelectorAll('[data-sign="-"]')].map((line) => line.textContent);

  it('reads from before to after, on both tabs, until it is turned round', () => {
    show(patched!.name);
    const way = () => screen.getByTestId('patch-way').textContent;
    expect(way()).toContain(`− ${patched!.title} + ${stock!.title}`);
    expect(gone().some((text) => text?.includes('synchronize_srcu(&shrinker_srcu)'))).toBe(true);
    fireEvent.click(screen.getByTestId('turn-round'));
    expect(way()).toContain(`− ${stock!.title} + ${patched!.title}`);
    expect(gone().some((text) => text?.includes('synchronize_srcu(&shrinker_srcu)'))).toBe(false);
    cleanup();
    show(stock!.name);
    expect(way()).toContain(`− ${patched!.title} + ${stock!.title}`);
  });

  it('lights a line that goes, for the kernel that has it, and says which that is', () => {
    const { container } = show(stock!.name, {
      open: (arm, kind) => (arm === patched!.name && kind === 'srcu_call' ? 2 : 0),
    });
    const lit = [...container.querySelectorAll<HTMLElement>('[data-lit]')];
    expect(lit.map(({ dataset }) => dataset['sign'])).toEqual(['-']);
    expect(lit[0]!.textContent).toContain(`2 hogs are on this line now on ${patched!.title}`);
  });

  it('leads from a line to its marks, and from a mark to its line', () => {
    const asked: string[] = [];
    show(patched!.name, {
      onMarks: (arm, kind) => asked.push(`${arm} ${kind}`),
      marked: { arm: patched!.name, kind: 'srcu_call' },
    });
    fireEvent.click(screen.getByTestId('marks-srcu_call'));
    expect(asked).toEqual([`${patched!.name} srcu_call`]);
    const marked = document.querySelector('[data-marked]');
    expect(marked?.textContent).toContain('synchronize_srcu(&shrinker_srcu)');
  });
});
