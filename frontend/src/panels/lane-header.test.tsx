// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** How a lane came to be: a copy is there in milliseconds, which seconds would round to none. */

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { laneMessage } from '../../test/fixtures/messages.ts';
import { testLesson } from '../../test/fixtures/page.tsx';
import { LaneHeader } from './lane-header.tsx';

afterEach(cleanup);

function detailsOf(boot: { readonly boot_s: number; readonly cloned: boolean }): string {
  const lesson = testLesson();
  const lane = { ...laneMessage('live-1', 'srcu', 'running'), ...boot, detail: 'console' };
  const props = {
    ...{ arm: lesson.arms[1]!, lane, build: null, recorded: false, pending: false, missing: false },
    ...{ ops: 1, total: 1, operation: lesson.operation, lost: 0, lines: [], onLoss: () => {} },
  };
  render(<LaneHeader {...props} />);
  fireEvent.click(screen.getByTestId('details-srcu'));
  const words = document.body.textContent ?? '';
  cleanup();
  return words;
}

test('a copied lane says in how many milliseconds, a booted one in how many seconds', () => {
  const copied = detailsOf({ boot_s: 0.034, cloned: true });
  expect(copied).toContain('copied from a template in 34 ms');
  expect(copied).not.toContain('0.0 s');
  expect(detailsOf({ boot_s: 12.34, cloned: false })).toContain('booted in 12.3 s');
});
