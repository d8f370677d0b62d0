// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** Caveats are prose like any other: code is code, emphasis is emphasis, and no mark of Markdown is left. */

import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { CaveatDialog } from './dialogs.tsx';

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
