// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { laneMessage } from '../../test/fixtures/messages.ts';
import { testLesson, testRun } from '../../test/fixtures/page.tsx';
import {
  firstKnobs,
  knobPlace,
  knobsAt,
  onClock,
  sceneKnobs,
  withParam,
} from '../navigation/knobs.ts';
import type { Contention } from '../protocol/messages.ts';
import { ContendedNotice, canCount, contendedOf, unjudged } from '../runs/runs-line.tsx';
import { LaneHeader } from './lane-header.tsx';

afterEach(cleanup);
const lesson = testLesson();
const three = { ...lesson.scenes[1]!, on_count: { params: { hogs: 6 }, note: 'one CPU' } };

function lane(contention: Contention | null) {
  return { ...laneMessage('live-1', 'srcu', 'running'), contention };
}
const quiet = { ran_s: 3.06, waited_s: 2.32, bound: 0.5 };
const busy = { ran_s: 1.2, waited_s: 4.3, bound: 0.5 };

it('adds up the lanes of a run, which wait for each other as well', () => {
  const run = testRun({ source: 'live' });
  expect(
    contendedOf(lesson, run, [lane(quiet), lane({ ...quiet, ran_s: 1.73, waited_s: 1.75 })]),
  ).toEqual({
    share: expect.closeTo(0.459, 3),
    distorted: false,
  });
  const found = contendedOf(lesson, run, [lane(quiet), lane(busy), lane(null)]);
  expect(found).toEqual({ share: expect.closeTo(0.608, 3), distorted: true });
  expect(unjudged(found, { judged_when_busy: false })).toContain('waited 61 %');
  expect(unjudged(found, { judged_when_busy: true })).toBe('');
  expect(contendedOf(lesson, run, [lane(null)])).toBeNull();
  expect(contendedOf(lesson, { ...run, clock: 'count' }, [lane(busy)])).toBeNull();
  const axis = { point: 'access', title: '', unit: '', plural: '', workloads: ['storm'] };
  expect(contendedOf({ axis }, run, [lane(busy)])).toBeNull();
  expect(unjudged(null, { judged_when_busy: false })).toBe('');
});

it('offers the count clock where the lesson and its workload have one', () => {
  const onCount = vi.fn();
  const found = { share: 0.73, distorted: true };
  render(<ContendedNotice found={found} offers blocked="" onCount={onCount} />);
  expect(screen.getByTestId('contended').textContent).toContain('for a host CPU 73 %');
  fireEvent.click(screen.getByTestId('run-count'));
  expect(onCount).toHaveBeenCalledOnce();
  cleanup();
  render(<ContendedNotice found={found} offers={false} blocked="" onCount={onCount} />);
  expect(screen.queryByTestId('run-count')).toBeNull();
  cleanup();
  render(
    <ContendedNotice
      found={{ share: 0.4, distorted: false }}
      offers
      blocked=""
      onCount={onCount}
    />,
  );
  expect(screen.queryByTestId('contended')).toBeNull();
  expect(canCount(lesson, three)).toBe(true);
  expect(canCount({ ...lesson, clocks: ['wall'] }, three)).toBe(false);
  const listens = { storm: { ...lesson.workloads['storm']!, input: true } };
  expect(canCount({ ...lesson, workloads: listens }, three)).toBe(false);
});

it('labels the lanes', () => {
  const props = {
    arm: lesson.arms[1]!,
    lane: lane(busy),
    build: null,
    recorded: false,
    pending: false,
    missing: false,
    ops: 1,
    total: 1,
    operation: lesson.operation,
    lost: 0,
    lines: [],
    onLoss: () => {},
  };
  render(<LaneHeader {...props} distorted />);
  expect(screen.getByTestId('distorted-srcu').textContent).toContain('waited 78 %');
  cleanup();
  render(<LaneHeader {...props} />);
  expect(screen.queryByTestId('distorted-srcu')).toBeNull();
});

it('puts the knobs of a step where they tell its story on one CPU', () => {
  const wall = sceneKnobs(lesson, firstKnobs(lesson), three);
  const count = onClock(lesson, three, wall, 'count');
  expect(count.params).toMatchObject({ hogs: 6, vcpus: 1 });
  expect(knobPlace(lesson, three, count)).toEqual({ clock: 'count', knobs: null, workload: null });
  expect(knobsAt(lesson, three, { clock: 'count', knobs: null, workload: null })).toEqual(count);
  expect(onClock(lesson, three, count, 'wall').params).toMatchObject({ hogs: 3, vcpus: 2 });
  const turned = withParam(lesson, wall, 'hogs', 8);
  expect(onClock(lesson, three, turned, 'count').params['hogs']).toBe(8);
});
