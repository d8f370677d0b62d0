// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
/** The drawer of a mark: what made it, and the trace records around it, of which it shows those that made it. */

import { cleanup, render, screen, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { ns } from '../base/units.ts';
import type { Behind } from '../derive/behind.ts';
import { RecordsDialog } from './records.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const box: Behind = {
  ...{ arm: 'stock', title: 'W, written', who: 'block 40', evidence: 'counted', how: '' },
  ...{ t0: ns(2_000), t1: ns(2_000) },
  rows: [{ t: ns(2_000), cpu: 1, what: 'an entry made', fields: 'lblk 40' }],
  trace: { t: ns(2_000), cpu: 1 },
};

const record = (t_ns: number, event: string) => ({
  ...{ t_ns, cpu: 1, tid: 7, task: 'extents', event },
  fields: { lblk: 40 },
});

function serving(records: readonly unknown[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    return { ok: true, status: 200, json: async () => records };
  });
  return asked;
}

function drawer(behind: Behind) {
  const lesson = { arms: [{ name: 'stock', title: 'stock' }] } as never;
  render(<RecordsDialog lesson={lesson} runId="r" behind={behind} recorded onClose={() => {}} />);
}

test('asks by time and CPU, and marks the record that made it', async () => {
  const asked = serving([record(1_000, 'sched/sched_switch'), record(2_000, 'ext4/insert')]);
  drawer(box);
  const trace = within(await screen.findByTestId('trace'));
  expect(asked).toEqual(['api/runs/r/lanes/stock/events?around_ns=2000&cpu=1&n=50']);
  const [, before, made] = trace.getAllByRole('row');
  expect(before!.hasAttribute('data-made')).toBe(false);
  expect(made!.hasAttribute('data-made')).toBe(true);
  expect(made!.textContent).toContain('one of the events listed above');
  expect(screen.getByTestId('behind').textContent).toContain('an entry made');
});

test('what no event made asks for nothing, and says from what it was computed', () => {
  const asked = serving([]);
  drawer({ ...box, evidence: 'modelled', how: 'Modelled from one counted access.', trace: null });
  expect(screen.getByTestId('records-how').textContent).toBe(
    'modelled Modelled from one counted access.',
  );
  expect(screen.getByTestId('behind').textContent).toContain('lblk 40');
  expect(asked).toEqual([]);
});

test('records that the server has forgotten are said to be forgotten', async () => {
  serving([]);
  drawer(box);
  expect(await screen.findByText(/drops the oldest/)).toBeTruthy();
});
