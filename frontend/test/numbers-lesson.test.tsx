// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Front } from '../src/home/home.tsx';
import { frontPage } from '../src/navigation/place.ts';
import { LessonLoader } from '../src/page/lesson-loader.tsx';
import { check } from '../src/protocol/check.ts';
import { readNumbersLesson } from '../src/protocol/contract.checks.gen.ts';
import { StoreProvider } from '../src/store/hooks.tsx';
import { Store } from '../src/store/store.ts';
import { testLesson as seenLesson } from './fixtures/lesson.ts';
import { wholeNumbers } from './fixtures/whole.ts';

const patch = `diff --git a/mm/vmscan.c b/mm/vmscan.c
--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -10,2 +10,2 @@ void shrink_slab(void)
-	old_way();
+	new_way();
 	rest();
`;
/** As the server sends it: every key of lesson.yaml, null where there is no view. */
const tree = wholeNumbers({
  slug: '01-shrinker-bitmaps',
  title: 'Shrinker bitmaps',
  question: 'Why did drop_caches take seconds?',
  summary: 'Every shrinker was called for every cgroup.',
  clock: 'count',
  clocks: ['wall', 'count'],
  view: null,
  operation: null,
  kinds: [],
  scenes: [],
  arms: [
    {
      name: 'before',
      title: 'list walk',
      role: 'before',
      summary: 'the map is not read',
      patches: ['before.patch'],
      patch_texts: [
        { file: 'before.patch', subject: 'mm: walk the list', body: 'Because.', text: patch },
      ],
    },
    { name: 'after', title: 'bitmap', role: 'after', summary: 'stock 6.1' },
  ],
  params: {},
  workloads: {},
  metrics: {
    last: { title: 'last call', unit: 'us', better: 'lower', line: 'x', event: null },
    visits: { title: 'visits', unit: 'visits', better: 'lower', event: 'walk', line: null },
    info: { title: 'size', unit: 'bytes', better: 'neither', dwarf: 'sizeof struct x' },
    aside: { title: 'an aside', unit: 'n', better: 'neither', event: 'walk', extra: true },
  },
  mails: {
    one: { author: 'An Author', date: '2018-07', subject: 'A series', url: 'https://lists/1' },
    two: { author: 'Another', date: '2019', subject: 'A page without address', url: null },
  },
  published: [
    { claim: 'drop_caches with 4,000 containers', mail: '5.48 s to 0.01 s' },
    { claim: 'on 64 CPUs', mail: '3 times', not_testable: 'the host has two.' },
  ],
  prose: '## the-first-call\n\nEvery bit is **set**.',
  caveats: ['It is a small machine.'],
  ready: { before: false, after: true },
});

const card = {
  slug: tree.slug,
  title: tree.title,
  question: tree.question,
  available: false,
  picture: false,
};
const hello = {
  type: 'hello',
  protocol: 1,
  version: '0',
  viewer: 'v',
  live: true,
  role: 'operator',
  denied: {},
} as const;

function page(store: Store, go = vi.fn()) {
  render(
    <StoreProvider store={store}>
      <LessonLoader slug={tree.slug} place={{ ...frontPage, lesson: tree.slug }} go={go} />
    </StoreProvider>,
  );
  return go;
}

function opened(): Store {
  const store = new Store();
  store.dispatch({ type: 'lesson', lesson: { ...tree } });
  return store;
}

beforeEach(() => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(tree))));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe('the store', () => {
  it('holds a lesson with a view or one without, never both', () => {
    const store = opened();
    expect([store.numbers.get()?.slug, store.lesson.get()]).toEqual([tree.slug, null]);
    store.dispatch({ type: 'lesson', lesson: { ...seenLesson } });
    expect([store.numbers.get(), store.lesson.get()?.slug]).toEqual([null, seenLesson.slug]);
    expect(store.errors.get()).toEqual([]);
  });

  it('complains of a lesson that is neither', () => {
    const store = new Store();
    store.dispatch({ type: 'lesson', lesson: { ...tree, arms: [] } });
    store.dispatch({ type: 'lesson', lesson: { ...tree, view: 'hog-rows' } });
    expect(store.errors.get().map((e) => e.code)).toEqual(['lesson', 'lesson']);
    expect(store.numbers.get()).toBeNull();
  });
});

describe('a lesson without a view, opened by its address', () => {
  it('is a page to read, with no stage', () => {
    page(opened());
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe(tree.question);
    expect(screen.getByTestId('no-picture').textContent).toContain('No picture yet');
    expect(screen.getByTestId('no-picture').textContent).toContain(
      './duet measure 01-shrinker-bitmaps',
    );
    expect(document.querySelector('canvas')).toBeNull();
    expect(screen.queryByTestId('story')).toBeNull();
  });

  it('tells each arm, its patch, and whether its kernel is there', () => {
    page(opened());
    const before = screen.getByTestId('arm-before');
    expect(before.textContent).toContain('the map is not read');
    expect(before.textContent).toContain('mm: walk the list');
    expect(before.textContent).toContain('+1 −1');
    expect(before.textContent).toContain('kernel not built yet');
    expect(before.querySelector('[data-sign="+"]')?.textContent).toContain('new_way();');
    const after = screen.getByTestId('arm-after');
    expect(after.textContent).toContain('No patch of its own');
    expect(after.textContent).not.toContain('not built');
  });

  it('shows the prose, with ids of steps read as words', () => {
    page(opened());
    const prose = screen.getByTestId('prose');
    expect(prose.querySelector('h2')?.textContent).toBe('The first call');
    expect(prose.querySelector('strong')?.textContent).toBe('set');
  });

  it('says of every judged number where it comes from, and of the claims that they are the mail’s', () => {
    page(opened());
    const rows = [...screen.getByTestId('metrics').querySelectorAll('tbody tr')];
    expect(rows.map((r) => r.lastElementChild?.textContent)).toEqual([
      'untraced runs',
      'counted events of a traced run',
      'the kernel’s own debug information (static)',
    ]);
    expect(screen.getByTestId('published').textContent).toContain('5.48 s to 0.01 s');
    expect(screen.getByTestId('published').textContent).toContain('not testable here: the host');
    const link = screen.getByText('A series');
    expect(link.getAttribute('href')).toBe('https://lists/1');
    expect(screen.getByTestId('mails').textContent).toContain('A page without address');
    expect(document.body.textContent).toContain('the mail’s figures, not ours');
    expect(screen.getByTestId('caveats').textContent).toBe('It is a small machine.');
  });

  it('tells the one clock it has', () => {
    const store = new Store();
    store.dispatch({ type: 'lesson', lesson: { ...tree, clock: 'wall', clocks: ['wall'] } });
    page(store);
    expect(screen.getByTestId('no-picture').textContent).toContain(
      'This lesson runs only on the wall clock',
    );
  });

  it('leads back to the list', () => {
    const go = page(opened());
    fireEvent.click(screen.getByText('Kernel Duet'));
    expect(go).toHaveBeenCalledWith({ lesson: null });
  });

  it('copies its commands', async () => {
    const writeText = vi.fn((_text: string) => Promise.resolve());
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
    page(opened());
    const [measure, against] = screen.getAllByTestId('copy-command');
    for (const button of [measure, against])
      await act(async () => fireEvent.click(button as HTMLElement));
    expect(writeText.mock.calls).toEqual([
      ['./duet measure 01-shrinker-bitmaps'],
      ['./duet measure 01-shrinker-bitmaps --published'],
    ]);
    expect(measure?.textContent).toBe('copied');
  });

  it('needs nothing but what every lesson has', () => {
    const { slug, title, question, summary, clock, clocks, arms, params, workloads } = tree;
    const { metrics } = tree;
    const bare = {
      slug,
      title,
      question,
      summary,
      clock,
      clocks,
      arms,
      params,
      workloads,
      metrics,
    };
    expect(check(readNumbersLesson, bare)).toMatchObject({ ok: true });
  });
});

describe('the card on the front page', () => {
  it('is honest that there is no picture', async () => {
    const store = new Store();
    store.dispatch({ ...hello, lessons: [card] });
    render(
      <StoreProvider store={store}>
        <Front onOpen={() => {}} />
      </StoreProvider>,
    );
    await screen.findByText('the map is not read');
    const shown = screen.getByTestId(`lesson-${tree.slug}`);
    expect(shown.textContent).toContain(
      'No picture yet: the command ./duet measure 01-shrinker-bitmaps prints its numbers',
    );
    for (const reported of [
      'bitmap',
      'list walk',
      '1 caveat',
      'It is a small machine.',
      tree.summary,
    ])
      expect(shown.textContent).toContain(reported);
    expect(shown.textContent).not.toContain('plays immediately');
  });

  it('says nothing of it where there is one', async () => {
    const store = new Store();
    store.dispatch({ ...hello, lessons: [{ ...card, picture: true }] });
    render(
      <StoreProvider store={store}>
        <Front onOpen={() => {}} />
      </StoreProvider>,
    );
    await screen.findByText('1 of 2 kernels built');
    expect(document.body.textContent).not.toContain('No picture');
  });
});
