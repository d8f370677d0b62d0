// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { figureWords, SavedOnHome, SavedRunsDialog, shownFigure } from './saved-runs.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const lesson = testLesson();
const run = {
  name: 'run-20261122-100000',
  lesson: lesson.slug,
  arms: [lesson.arms[0]!.name],
  workload: Object.keys(lesson.workloads)[0]!,
  params: {},
  clock: 'wall',
  bytes: 2 << 20,
  recorded_at: '2026-11-22T10:00:00+00:00',
  seconds: null,
  yours: true,
  deletable: true,
};

/** A server with these answers. Each key is the beginning of `METHOD path`. */
function answering(answers: Record<string, () => [number, unknown]>): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit = {}) => {
    const what = `${init.method ?? 'GET'} ${url}`;
    asked.push(what);
    const found = Object.entries(answers).find(([start]) => what.startsWith(start));
    const [status, body] = found?.[1]() ?? [404, null];
    return { ok: status < 400, status, json: async () => body };
  });
  return asked;
}

function sheet(onPlay: (id: string) => void = () => {}) {
  render(<SavedRunsDialog lesson={lesson} open shown={null} onPlay={onPlay} onClose={() => {}} />);
}

test('a saved run says when, what and how large, and is played by its id', async () => {
  answering({ 'GET api/kept': () => [200, [run]] });
  const played: string[] = [];
  sheet((id) => played.push(id));
  const line = await screen.findByTestId(`saved-${run.name}`);
  expect(line.textContent).toMatch(/saved run of 22 Nov 2026.*2\.0 MiB/);
  expect(line.textContent).toContain(lesson.arms[0]!.title);
  await userEvent.click(screen.getByRole('button', { name: /^Play the run/ }));
  expect(played).toEqual([`kept:${lesson.slug}:${run.name}`]);
});

test('a run that is deleted is gone from the list; a refusal is its sentence', async () => {
  let list = [run];
  let refuses = true;
  const asked = answering({
    'GET api/kept': () => [200, list],
    'DELETE api/kept': () => {
      if (refuses)
        return [404, { error: { code: 'input', sentence: 'It is gone.', remedy: 'Look again.' } }];
      list = [];
      return [200, { deleted: run.name }];
    },
  });
  sheet();
  await userEvent.click(await screen.findByRole('button', { name: /^Delete the run/ }));
  expect(asked).toContain(`DELETE api/kept/${run.name}`);
  refuses = false;
  await userEvent.click(screen.getByRole('button', { name: /^Delete the run/ }));
  await screen.findByText(/No live run of this lesson is saved/);
});

test('a run of somebody else is played, and not deleted', async () => {
  answering({ 'GET api/kept': () => [200, [{ ...run, deletable: false }]] });
  sheet();
  await screen.findByTestId(`saved-${run.name}`);
  expect(screen.queryByRole('button', { name: /^Delete the run/ })).toBeNull();
});

test('a server that does not answer is said', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  sheet();
  expect((await screen.findByRole('alert')).textContent).toContain('did not answer');
});

test('two runs are compared: what differs stands before the figures, rates are left out', async () => {
  const other = { ...run, name: 'run-20261122-110000' };
  const arm = lesson.arms[0]!.name;
  const found = {
    lesson: lesson.slug,
    sides: [],
    differences: [{ of: 'host', what: 'cpu', arm: '', recorded: 'A', now: 'B' }],
    figures: [
      { arm, figure: 'metrics.wait_ns.p50', recorded: 2_000_000, now: 3_000_000, ratio: 1.5 },
      { arm, figure: 'ops_per_s', recorded: 4711, now: 4712, ratio: 1 },
    ],
    only: {},
    worth: 'They explain, and prove nothing.',
  };
  const asked = answering({
    'GET api/kept': () => [200, [run, other]],
    'GET api/compare': () => [200, found],
  });
  sheet();
  await userEvent.click(await screen.findByRole('button', { name: 'compare' }));
  const text = (await screen.findByTestId('compared')).textContent ?? '';
  expect(text.indexOf('A in the first run, B in the second run')).toBeLessThan(
    text.indexOf('wait, p50'),
  );
  expect(text).toContain('+50.0 %');
  expect(text).not.toContain('4,711');
  const query = new URLSearchParams(asked.find((a) => a.includes('compare'))?.split('?')[1]);
  expect([query.get('first'), query.get('second')]).toEqual(
    [run, other].map(({ name }) => `kept:${lesson.slug}:${name}`),
  );
});

test('the front page links saved runs of lessons it knows, and is silent where there are none', async () => {
  answering({ 'GET api/kept': () => [200, [run, { ...run, name: 'x', lesson: null }]] });
  const { unmount } = render(<SavedOnHome titles={[{ slug: lesson.slug, title: 'T' }]} />);
  const link = await screen.findByRole('link', { hidden: true });
  expect(link.getAttribute('href')).toBe(
    `?lesson=${lesson.slug}&run=kept:${lesson.slug}:${run.name}`,
  );
  unmount();
  const asked = answering({ 'GET api/kept': () => [200, { odd: 'shape' }] });
  render(<SavedOnHome titles={[{ slug: lesson.slug, title: 'T' }]} />);
  await waitFor(() => expect(asked).toHaveLength(1), { timeout: 60_000 });
  expect(screen.queryByTestId('saved-front')).toBeNull();
});

test('names of figures are words', () => {
  expect(figureWords('metrics.wait_ns.p50')).toBe('wait, p50');
  expect(figureWords('tallies.visits_last')).toBe('visits last');
  expect(figureWords('ops')).toBe('operations of the whole run');
});

test('a time has its unit beside its value, not in its name', () => {
  for (const [name, value] of [
    ['metrics.op_ns.p50', 22_200],
    ['tallies.locked_mean_us', 22.2],
  ] as const) {
    expect(shownFigure(name, value)).toBe('22.2 µs');
    expect(figureWords(name)).not.toMatch(/\b[nu]s\b/);
  }
  expect(shownFigure('tallies.visits_last', 4332)).toBe('4,332');
});
