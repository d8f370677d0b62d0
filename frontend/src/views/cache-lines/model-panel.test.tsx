// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** The panel of the model: its checkbox is a knob of the lesson, as the picture has it. */

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { lineLesson, lineRun } from '../../../test/fixtures/cachelines.ts';
import { wholeLesson } from '../../../test/fixtures/whole.ts';
import { lightTheme } from '../../base/theme.ts';
import type { PanelProps } from '../contract.ts';
import { ModelPanel } from './model-panel.tsx';

afterEach(cleanup);

const owning = { title: 'loads that own', help: 'a load asks', type: 'bool', default: 1 };
const lesson = wholeLesson({
  ...lineLesson,
  params: { owning: { ...owning, min: 0, max: 1, applies: 'model' } },
} as never);
const params = (value: number) => ({ model_cpus: 2, owning: value });
const runs = [0, 1].map((value) =>
  lineRun({ letters: 24, stats: 6 }, ['stock', 'moved'], params(value)),
);

async function box(value: 0 | 1, more: Partial<PanelProps>) {
  const props = { runIndex: runs[value]!, lesson, theme: lightTheme, ...more };
  render(<ModelPanel {...(props as PanelProps)} />);
  return (await screen.findByTestId('owning', undefined, { timeout: 60_000 })) as HTMLInputElement;
}

test('the checkbox shows the knob, and turns it', async () => {
  const onKnob = vi.fn();
  const on = await box(1, { onKnob });
  expect(on.checked).toBe(true);
  fireEvent.click(on);
  expect(onKnob).toHaveBeenCalledWith('owning', 0);
  // The knob is the run's: nothing here remembers another state of it.
  expect(on.checked).toBe(true);
  cleanup();
  expect((await box(0, { onKnob })).checked).toBe(false);
}, 120_000);

test('where no knob can be turned it is off, and a lesson without the knob has no box', async () => {
  expect((await box(1, {})).disabled).toBe(true);
  cleanup();
  const props = { runIndex: runs[1]!, lesson: lineLesson, theme: lightTheme };
  render(<ModelPanel {...(props as unknown as PanelProps)} />);
  await screen.findByTestId('stated', undefined, { timeout: 60_000 });
  expect(screen.queryByTestId('owning')).toBeNull();
}, 120_000);

test('the sentence has a ratio of each kind of loads, and they differ', async () => {
  await box(1, {});
  const said = await screen.findByText(/the model gives .* the mail measured/, undefined, {
    timeout: 60_000,
  });
  const [own, read] = /gives ([\d.]+) times .* own the line, and ([\d.]+) if they read it/
    .exec(said.textContent ?? '')!
    .slice(1);
  expect(Number(own)).toBeGreaterThan(Number(read));
}, 120_000);
