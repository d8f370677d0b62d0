// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { lineLesson, lineRun, lockRun, stepFrame } from '../../../test/fixtures/cachelines.ts';
import { fileRun, frameAfter } from '../../../test/fixtures/extents.ts';
import { lightTheme } from '../../base/theme.ts';
import type { Frame } from '../../derive/types.ts';
import { layoutOverview, Overview } from './index.tsx';

describe('overview', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** The strip with the complete run: the description of its axis, and how far a key moves the moment. */

  afterEach(cleanup);

  const size = { width: 900, height: 120, dpr: 1 };
  const run = lineRun({ letters: 24, stats: 400 });

  test('an axis that counts is not called time', () => {
    const of = (index = run) => layoutOverview(index, stepFrame(0), size, (arm) => arm).aligned;
    expect(of()).toBe('by accesses');
    expect(of(lockRun())).toBe('by time');
  });

  function seeks(frame: Frame): number[] {
    const onSeek = vi.fn();
    const source = { get: () => frame, subscribe: () => () => {} };
    render(
      <Overview
        {...{ runIndex: run, lesson: lineLesson, frame: source, theme: lightTheme, onSeek }}
        onWindow={() => {}}
        onView={() => {}}
      />,
    );
    for (const key of ['ArrowRight', 'ArrowLeft'])
      fireEvent.keyDown(screen.getByTestId('scrubber'), { key });
    cleanup();
    return onSeek.mock.calls.map(([moment]) => moment / 1000);
  }

  test('a key goes a two-hundredth of the run, and by a window where that is less', () => {
    // The run has 16,800 accesses.
    expect(seeks(stepFrame(1000, { span: 2_000_000 }))).toEqual([1084, 916]);
    expect(seeks(stepFrame(1000, { span: 60_000 }))).toEqual([1060, 940]);
  });
});

describe('layout', () => {
  test('a strip that is too low for its lanes first gives up its axis, then their titles', () => {
    const index = fileRun({ delayed: 8, written: 8, nr: 4, scans: 2 });
    expect(index.lanes).toHaveLength(3);
    const at = (height: number) => {
      const size = { width: 600, height, dpr: 1 };
      const { axis, titles, bands } = layoutOverview(index, frameAfter(4), size, (arm) => arm);
      const low = bands.at(-1)!;
      return { axis, titles, inside: low.top + low.height <= height - (axis ? 20 : 0) };
    };
    expect(at(90)).toEqual({ axis: true, titles: true, inside: true });
    expect(at(54)).toEqual({ axis: false, titles: true, inside: true });
    expect(at(34)).toEqual({ axis: false, titles: false, inside: true });
  });
});
