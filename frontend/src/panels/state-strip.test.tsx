// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { laneMessage } from '../../test/fixtures/messages.ts';
import { testRun } from '../../test/fixtures/page.tsx';
import type { ControlMessage, LaneMessage, LensMessage } from '../protocol/messages.ts';
import { lanePhase } from '../runs/phase.ts';
import { type LaneLens, SourceBadge, StateStrip } from './state-strip.tsx';

afterEach(() => {
  cleanup();
  localStorage.clear();
});
const nothing = () => {};

function lane(change: Partial<LaneMessage>): LaneMessage {
  return { ...laneMessage('live-1', 'srcu', 'running'), ...change };
}

describe('what is recorded says so', () => {
  it('with day and kernel, in every phase', () => {
    for (const phase of ['done', 'running', 'preparing'] as const) {
      render(<SourceBadge run={testRun({ phase })} kernel="6.1.192" />);
      expect(screen.getByTestId('source').textContent).toContain('recorded');
      expect(screen.getByTestId('source').textContent).toContain('1 Mar 2026, Linux 6.1.192');
      cleanup();
    }
  });

  it('also while live guests boot', () => {
    expect(lanePhase(lane({ phase: 'booting' }), null, true, true).words).toBe(
      'recorded; live: booting',
    );
    expect(lanePhase(lane({ phase: 'done' }), null, true).words).toBe('recorded');
  });

  it('a run that is over is the previous one while the next begins', () => {
    const run = testRun({ source: 'live', phase: 'done' });
    const words = (next: boolean) => {
      render(<SourceBadge run={run} kernel={null} next={next} />);
      const said = screen.getByTestId('source').textContent;
      cleanup();
      return said;
    };
    expect(words(false)).toContain('finished');
    expect(words(true)).toContain('the previous one');
    expect(words(true)).not.toContain('finished');
  });

  it('and what is live says live', () => {
    render(<SourceBadge run={testRun({ source: 'live', phase: 'running' })} kernel={null} />);
    expect(screen.getByTestId('source').textContent).toContain('live');
    expect(screen.getByTestId('source').textContent).not.toContain('recorded');
  });
});

describe('the state of the run', () => {
  const lensOf = (state: LensMessage['state'], samples: number): LaneLens => ({
    title: 'SRCU',
    lens: {
      type: 'lens',
      run_id: 'r',
      arm: 'srcu',
      lens: 'xray',
      state,
      route: 'memory',
      message: '',
      remedy: '',
      samples,
      torn: samples > 0 ? 2 : 0,
      failed: samples > 0 ? 1 : 0,
      dropped: 0,
    },
  });
  const strip = (
    lost: number,
    by: ControlMessage['by'] | null,
    onControl = nothing as (t: boolean) => void,
    may_take = true,
    lenses: readonly LaneLens[] = [],
    coming = '',
  ) =>
    render(
      <StateStrip
        run={testRun()}
        kernel={null}
        lanes={2}
        lost={lost}
        gaps={0}
        control={
          by === null
            ? null
            : { type: 'control', run_id: testRun().run_id, by, may_take, yours: by === 'you' }
        }
        pending=""
        coming={coming}
        lenses={lenses}
        onLoss={nothing}
        onLens={nothing}
        onControl={onControl}
      />,
    );

  it('a recording that is being read is reported here, and not over the picture', () => {
    strip(0, null, nothing, true, [], 'reading the recording… 58 %');
    expect(screen.getByTestId('coming').textContent).toContain('58 %');
  });

  it('tells how the x-ray is: samples, torn and failed reads, and a failure with a sign', () => {
    strip(0, null);
    expect(screen.queryByTestId('lens')).toBeNull();
    cleanup();
    strip(0, null, nothing, true, [lensOf('on', 40), lensOf('off', 0)]);
    expect(screen.getByTestId('lens').textContent).toBe(' x-ray 40, 2 torn, 1 failed');
    // In pieces of a badge a gap would stand before the comma.
    expect(screen.getByTestId('lens').querySelector('span')?.textContent).toBe(
      '40, 2 torn, 1 failed',
    );
    cleanup();
    strip(0, null, nothing, true, [lensOf('failed', 3)]);
    expect(screen.getByTestId('lens').dataset['tone']).toBe('hazard');
  });

  it('counts lost events, with a sign when there are some', () => {
    strip(0, null);
    expect(screen.getByTestId('lost').dataset['tone']).toBeUndefined();
    cleanup();
    strip(1204, null);
    expect(screen.getByTestId('lost').textContent).toContain('1,204');
    expect(screen.getByTestId('lost').dataset['tone']).toBe('hazard');
    expect(screen.getByTestId('lost').querySelector('svg')).not.toBeNull();
  });

  it('says who controls, and lets a watcher take over', () => {
    const take = vi.fn();
    strip(0, 'other', take);
    fireEvent.click(screen.getByTestId('control'));
    expect(screen.getByTestId('control').textContent).toContain('watching');
    expect(take).toHaveBeenCalledWith(true);
  });

  it('offers control to nobody who would not get it', () => {
    strip(0, 'other', nothing, false);
    expect(screen.getByTestId('control').tagName).toBe('SPAN');
  });
});
