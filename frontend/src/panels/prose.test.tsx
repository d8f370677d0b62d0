// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { Inline, Prose, parts } from './prose.tsx';

afterEach(cleanup);

const table = '| kernel | ratio |\n| --- | ---: |\n| stock | **60** |\n| *list* | `114` |';

it('takes tables of figures out of the text and leaves the rest as it was', () => {
  expect(parts(`Before.\n\n${table}\nAfter.`)).toEqual([
    'Before.\n',
    {
      right: [false, true],
      head: ['kernel', 'ratio'],
      rows: [
        ['stock', '**60**'],
        ['*list*', '`114`'],
      ],
    },
    'After.',
  ]);
  const bars = 'a | b\n\n| one row is no table |';
  expect(parts(bars)).toEqual([bars]);
});

it('draws them as tables between the paragraphs', () => {
  const { container } = render(<Prose text={`## how-much\n\nBefore.\n\n${table}\n\nAfter.`} />);
  expect([...container.children].map((e) => e.tagName)).toEqual(['H2', 'P', 'TABLE', 'P']);
  const rows = [...container.querySelectorAll('tr')].map((r) =>
    [...r.children].map((c) => c.textContent),
  );
  expect(rows).toEqual([
    ['kernel', 'ratio'],
    ['stock', '60'],
    ['list', '114'],
  ]);
  expect(container.textContent).not.toContain('|');
  expect([...container.querySelectorAll('td')].map((c) => c.className)).toEqual([
    '',
    'number right',
    '',
    'number right',
  ]);
});

it('reads code in a sentence as code, without a paragraph', () => {
  const { container } = render(<Inline text="The knob `what` gives 3." />);
  expect(container.innerHTML).toBe('The knob <code>what</code> gives 3.');
});
