// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, test } from 'vitest';
import { testLesson, testMeasured } from '../../test/fixtures/page.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { mailText } from './mail.ts';
import { inTitles, MeasuredPanel, onScreen, rowsBeyond, verdictLines } from './measured-panel.tsx';

describe('measured panel', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later

  afterEach(() => {
    cleanup();
    localStorage.clear();
  });
  const lesson = testLesson();
  const nothing = () => {};

  describe('the measured table', () => {
    it('says n, median, direction, and why there is no verdict', () => {
      render(
        <MeasuredPanel lesson={lesson} measured={testMeasured()} blocked="" onMeasure={nothing} />,
      );
      const text = screen.getByTestId('measured').textContent;
      expect(text).toContain('higher is better');
      // A metric may be a mean itself: the median is that of the runs.
      expect(text).toContain('median of n');
      expect(text).toContain('922');
      expect(text).toContain('no verdict: n < 5');
      expect(text).not.toContain('recorded');
    });

    it('is titled by its metric, not by the operation', () => {
      const times = testMeasured({ title: 'scan, mean', better: 'lower', metric: 'scan_mean_us' });
      const rows = times.rows.map((row) => ({ ...row, unit: 'us' }));
      const measured = { ...times, rows };
      render(<MeasuredPanel lesson={lesson} measured={measured} blocked="" onMeasure={nothing} />);
      const heading = screen.getByRole('heading').textContent;
      expect(heading).toContain('scan, mean, µs, lower is better');
      expect(heading).not.toContain(lesson.operation.name);
      expect(mailText(lesson, measured)).toMatch(/^scan, mean, us, lower is better\n/);
      const rates = testMeasured({ title: 'umounts', better: 'higher', metric: 'ops_per_s' });
      expect(mailText(lesson, rates)).toMatch(/^umounts\/s, higher is better\n/);
    });

    it('that is not there says why, and what to do', () => {
      const panel = (more: Partial<typeof lesson>) => {
        const own = { ...lesson, ...more };
        render(<MeasuredPanel lesson={own} measured={null} blocked="" onMeasure={nothing} />);
        const { textContent } = screen.getByTestId('no-table');
        cleanup();
        return textContent;
      };
      const none = panel({ measured: [] });
      expect(none).toContain('No table of untraced runs is recorded for this lesson.');
      expect(none).toContain(`./duet measure ${lesson.slug}`);
      const { rows, clock, params, workload } = testMeasured();
      const others = panel({ measured: [{ ...testMeasured(), rows, clock, params, workload }] });
      expect(others).toContain('No recorded table covers all kernels of this step.');
      const why = panel({ no_table: 'No cache here: look at the `accesses`.' });
      expect(why).toBe(
        'This lesson deliberately has no table. No cache here: look at the accesses.',
      );
    });

    it('of a recording says recorded', () => {
      const old = testMeasured({ source: 'recorded' });
      render(<MeasuredPanel lesson={lesson} measured={old} blocked="" onMeasure={nothing} />);
      expect(screen.getByTestId('measured').textContent).toContain('recorded 1 Mar 2026');
    });

    it('copies as plain ASCII of at most 75 columns, with the command', () => {
      const text = mailText(
        lesson,
        testMeasured({ verdict: 'SRCU “is” slower – by 75 %, '.repeat(9) }),
      );
      expect(Math.max(...text.split('\n').map((l) => l.length))).toBeLessThanOrEqual(75);
      expect(text).toMatch(/^[\n\x20-\x7e]*$/);
      expect(text).toContain('umounts/s, higher is better');
      expect(text).toContain('./duet measure 02-grace-periods --arms rwsem,srcu');
      expect(text).toMatch(/srcu +3 +231 +234 +- +-75.0 %/);
      expect(text).not.toContain('kernel of');
    });

    it('of a trial names the call that makes it, and its commits', () => {
      const made_by =
        "./duet try --tree ../linux --tree '../my linux' --run 'a b  c' --clock count";
      const [first, ...others] = lesson.arms;
      const commit = '0123456789ab'.padEnd(40, 'c');
      const tree = { version: '6.6.7', tree: 'd', describe: 'v6.6.7', changes: '', patches: 0 };
      const arms = [{ ...first!, source: { ...tree, commit, dirty: true } }, ...others];
      const trial = { ...lesson, arms, made_by };
      const text = mailText(trial, testMeasured());
      expect(text).toContain(
        `to reproduce:\n  ./duet try --tree ../linux --tree '../my linux' --run 'a b  c' --clock \\\n    count\n  ./duet measure`,
      );
      const flat = text.replaceAll(/\s+/g, ' ');
      expect(flat).toContain('source of rwsem: Linux 6.6.7, commit 0123456789ab, v6.6.7, dirty');
      const own = testMeasured({ command: made_by });
      expect(mailText(trial, own).split('./duet').length).toBe(2);
    });

    it('says when its arms are more than one patch apart, on the page and in the mail', () => {
      const sentence = 'srcu stands on 6.12, rwsem on 6.1: these are different kernels.';
      const measured = testMeasured({ warnings: [sentence] });
      render(<MeasuredPanel lesson={lesson} measured={measured} blocked="" onMeasure={nothing} />);
      expect(screen.getByTestId('measured-warning').textContent).toBe(
        `More than one patch differs: ${sentence}`,
      );
      expect(mailText(lesson, measured)).toContain(`WARNING: ${sentence}`);
      expect(mailText(lesson, testMeasured())).not.toContain('WARNING');
    });

    it('says of which kernels a recorded table was made, in as many columns', () => {
      const patch = { path: 'x/both/0001-a.patch', sha256: 'a'.repeat(64) };
      const own = { path: '02-grace-periods/srcu.patch', sha256: 'b'.repeat(64) };
      const kernel = {
        arm: 'srcu',
        key: 'c'.repeat(24),
        kernel: '6.1.9',
        config_sha256: 'd'.repeat(64),
        compiler: 'gcc 12',
        patches: [patch, own],
        writes: [],
      };
      const made = { arms: [kernel], host: {}, shift: 0, seeds: [2, 3, 4] };
      const text = mailText(lesson, testMeasured({ made }));
      expect(Math.max(...text.split('\n').map((l) => l.length))).toBeLessThanOrEqual(75);
      const flat = text.replaceAll(/\s+/g, ' ');
      expect(flat).toContain(
        'kernel of srcu: 6.1.9, cccccccccccc, config dddddddddddd, srcu.patch bbbbbbbbbbbb gcc 12 perturbed starts: seeds 2 3 4',
      );
      expect(flat).not.toContain('0001-a.patch');
    });
  });
});

describe('arm titles', () => {
  const arms = [
    { name: 'before', title: 'list walk' },
    { name: 'srcu', title: 'SRCU' },
    { name: 'srcu-expedited', title: 'SRCU expedited' },
  ] as unknown as Lesson['arms'];
  const said = (sentence: string) => inTitles({ arms }, sentence);

  it('a verdict names kernels by their titles, the longest name first', () => {
    expect(
      said('srcu -89.9 % against before, worse (n = 5). srcu-expedited against before: no.'),
    ).toBe('SRCU -89.9 % against list walk, worse (n = 5). SRCU expedited against list walk: no.');
  });

  it('a plain word stays one, and no part of another name is taken for one', () => {
    expect(said('srcu-delayed was measured before; the srcu of it too')).toBe(
      'srcu-delayed was measured before; the srcu of it too',
    );
    expect(inTitles({ arms: [] }, 'srcu against before')).toBe('srcu against before');
  });
});

describe('verdict lines', () => {
  const proven =
    'SRCU -89.9 % against rwsem, worse (95 % interval 0.08 to 0.13 of rwsem, n = 5, p = 0.0079).';
  const none =
    'SRCU delayed against rwsem: no difference proven (95 % interval 0.86 to 1.4 of rwsem, n = 5).';

  test('a sentence for each kernel is a line, with a minus and a unit of a screen', () => {
    expect(verdictLines(`${proven} ${none}`)).toEqual([proven.replace('-89.9', '−89.9'), none]);
    expect(
      verdictLines('No verdict on a against b: n < 5. No verdict on c against b: traced.'),
    ).toHaveLength(2);
    expect(verdictLines('')).toEqual([]);
    expect(onScreen('fifth drop_caches, us, lower is better')).toBe(
      'fifth drop_caches, µs, lower is better',
    );
    expect(onScreen('SRCU-expedited uses rcu-sync')).toBe('SRCU-expedited uses rcu-sync');
  });

  test('a row says only what the sentences do not', () => {
    const row = (arm: string, verdict: string) =>
      ({ arm, verdict }) as MeasuredMessage['rows'][number];
    const rows = [
      row('rwsem', ''),
      row('srcu-delayed', 'no difference proven'),
      row('srcu', 'the host was busy'),
    ];
    expect(rowsBeyond({ rows, verdict: `${proven} ${none}` }).map(({ arm }) => arm)).toEqual([
      'srcu',
    ]);
  });
});
