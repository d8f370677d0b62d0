// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testLesson } from '../../../../test/fixtures/page.tsx';
import { wholeMessage } from '../../../../test/fixtures/whole.ts';
import { found } from '../../../plugins-site.ts';
import type { ArmSource } from '../../../protocol/contract.gen.ts';
import type { ChangedMessage, ClientMessage } from '../../../protocol/messages.ts';
import { StoreProvider } from '../../../store/hooks.tsx';
import { Store } from '../../../store/store.ts';
import { DoorProvider } from '../door.tsx';
import { ChangeButton, ChangePane } from '../entry.tsx';

const text = 'int first;\n\nint second(void)\n{\n\treturn 1;\n}\n';
const source: ArmSource = {
  arm: 'srcu',
  off: '',
  files: [{ name: 'mm/a.c', text, regions: [{ title: 'second()', first: 3, last: 6 }] }],
};
const patch = `From: A <a@b>
Subject: [PATCH] mm: two

---
diff --git a/mm/a.c b/mm/a.c
--- a/mm/a.c
+++ b/mm/a.c
@@ -3,4 +3,4 @@
 int second(void)
 {
-	return 1;
+	return 2;
 }
`;
const own = 'own-0123456789';
let lesson = testLesson();
// Each test has a lesson of its own: what was typed stays with it.
let n = 0;

beforeEach(() => {
  n += 1;
  lesson = { ...testLesson(), slug: `0${n}-lesson` };
  const answer = () => Promise.resolve(new Response(JSON.stringify(source)));
  vi.stubGlobal('fetch', vi.fn(answer));
});
afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

function shown(props: { blocked?: string; shut?: string } = {}) {
  const store = new Store();
  const sent: ClientMessage[] = [];
  store.attach((message) => sent.push(message));
  const onBegin = vi.fn();
  const page = (of = lesson) => (
    <StoreProvider store={store}>
      <DoorProvider
        lesson={of}
        scene={of.scenes[1]!}
        blocked={props.blocked ?? ''}
        shut={props.shut ?? ''}
        onBegin={onBegin}
        address={() => 'http://here/?lesson=x'}
      >
        <ChangeButton at="knobs" />
        <ChangePane />
      </DoorProvider>
    </StoreProvider>
  );
  const { rerender } = render(page());
  const said = (change: Partial<ChangedMessage>) =>
    act(() =>
      store.dispatch({
        ...wholeMessage('changed', { lesson: lesson.slug, base: 'srcu', arm: own, phase: 'wait' }),
        ...change,
      }),
    );
  return { store, sent, onBegin, said, again: (of: typeof lesson) => rerender(page(of)) };
}

async function drop(content: string, name = 'a.patch') {
  const file = new File([content], name);
  fireEvent.drop(document, { dataTransfer: { types: ['Files'], files: [file] } });
  await screen.findByTestId('change-tally', undefined, { timeout: 20_000 });
}

it('opens by its button with the functions of the arm, and closes by Escape', async () => {
  shown();
  fireEvent.click(screen.getByTestId('change'));
  await screen.findByTestId('change-code', undefined, { timeout: 20_000 });
  expect(fetch).toHaveBeenCalledWith(
    `api/lessons/${lesson.slug}/arms/srcu/source`,
    expect.anything(),
  );
  expect(screen.getByRole('button', { name: 'second()' })).toBeTruthy();
  expect(screen.getByTestId('run-change')).toHaveProperty('disabled', true);
  expect(screen.getByTestId('change-why').textContent).toContain('Change a line first');
  // Also when the focus is nowhere, as after a button that went off.
  fireEvent.keyDown(document.body, { key: 'Escape' });
  expect(screen.queryByTestId('change-pane')).toBeNull();
});

it('a dropped patch opens as a diff, runs as third lane, and begins once it is built', async () => {
  const { sent, onBegin, said, again } = shown();
  await drop(patch);
  expect(screen.getByTestId('change-tally').textContent).toBe('+1 −1');
  expect(sent).toEqual([]);
  const run = screen.getByTestId('run-change');
  expect(run.textContent).toBe('run as third lane');
  fireEvent.click(run);
  expect(sent[0]).toMatchObject({ type: 'change', lesson: lesson.slug, arm: 'srcu' });
  expect(sent[0]).toHaveProperty('diff', patch.slice(patch.indexOf('diff --git')));
  said({ ahead: 1 });
  expect(screen.getByTestId('change-phase').textContent).toBe('waiting for 1 build ahead');
  said({ phase: 'compile', done: 2, total: 7 });
  expect(screen.getByTestId('change-phase').textContent).toBe('compiling 2 of 7');
  const arm = { ...lesson.arms[1]!, name: own, title: 'your change' };
  again({ ...lesson, arms: [...lesson.arms, arm] });
  expect(onBegin).not.toHaveBeenCalled();
  said({ phase: 'built' });
  expect(onBegin).toHaveBeenCalledExactlyOnceWith(['rwsem', 'srcu', own]);
});

it('offers the challenges of the lesson, and has a built change judged', async () => {
  const one = {
    title: 'Faster',
    ask: 'Make it fast.',
    hint: 'One word.',
    arm: 'srcu',
    aim: 'better' as const,
    goals: [],
    rules: [],
    without: [],
    order: null,
    answer: 'Yes, that is right.',
  };
  const challenges = { faster: one, other: { ...one, arm: 'rwsem' } };
  lesson = { ...lesson, challenges };
  const { store, sent, said } = shown();
  await drop(patch);
  const judge = screen.getByTestId('judge-faster');
  expect(judge.title).toContain('Run your change first');
  expect(screen.queryByTestId('judge-other')).toBeNull();
  fireEvent.click(screen.getByTestId('run-change'));
  said({ phase: 'built' });
  fireEvent.click(judge);
  const asked = { lesson: lesson.slug, challenge: 'faster', arm: own };
  expect(sent.at(-1)).toEqual({ type: 'judge', ...asked });
  const judged = (more: object) =>
    act(() =>
      store.dispatch({ ...wholeMessage('judged', { ...asked, phase: 'measuring' }), ...more }),
    );
  judged({ done: 1, total: 4 });
  expect(screen.getByText('guest 2 of 4 is running')).toBeTruthy();
  expect(judge).toHaveProperty('disabled', true);
  const line = { kind: 'goal', says: 'fast', wanted: 'at most 1', found: '2 us', holds: false };
  judged({ phase: 'done', met: false, because: 'It is slow.', lines: [line] });
  expect(screen.getByText('Not met. It is slow.')).toBeTruthy();
  expect(screen.getByTestId('challenge-faster').textContent).toContain(
    'fails fast: 2 us; required: at most 1',
  );
  expect(screen.queryByText('Yes, that is right.')).toBeNull();
  judged({ phase: 'done', met: true, because: 'All holds.' });
  expect(screen.getByText('Yes, that is right.')).toBeTruthy();
});

it('is put on the files when it fits, and what was typed can be taken back', async () => {
  const { sent } = shown();
  await drop(patch);
  fireEvent.click(screen.getByText("apply the diff to the arm's files"));
  fireEvent.click(screen.getByTestId('view-edit'));
  expect(screen.getByTestId('change-code').textContent).toContain('return 2;');
  fireEvent.click(screen.getByTestId('run-change'));
  expect(sent[0]).toHaveProperty('diff', expect.stringContaining('@@ -2,5 +2,5 @@ int first;\n'));
  fireEvent.click(screen.getByTestId('reset-change'));
  await waitFor(() =>
    expect(screen.getByTestId('change-tally').textContent).toBe('same text as the arm'),
  );
});

it('can be given up, and says what the compiler said', async () => {
  const { sent, said, onBegin } = shown();
  await drop(patch);
  fireEvent.click(screen.getByTestId('run-change'));
  said({ phase: 'link' });
  fireEvent.click(screen.getByTestId('give-up-change'));
  expect(sent[1]).toEqual({ type: 'drop_change', arm: own });
  fireEvent.click(screen.getByTestId('run-change'));
  const words = { code: 'build', sentence: 'it does not compile.', remedy: 'Mend it.' };
  said({
    phase: 'failed',
    error: { ...wholeMessage('error', words), run: null },
    problems: [
      { file: 'mm/a.c', line: 5, column: 9, severity: 'error', text: 'bad word' },
      { file: 'mm/z.h', line: 1, column: 0, severity: 'warning', text: 'odd' },
    ],
  });
  const problems = screen.getByTestId('problems');
  expect(problems.textContent).toContain('It does not compile.');
  expect(problems.textContent).toContain('Mend it.');
  expect(problems.textContent).toContain('1 error, 1 warning');
  expect(screen.getByText('mm/z.h:1').closest('button')).toBeNull();
  expect(onBegin).not.toHaveBeenCalled();
  said({ arm: '', phase: 'refused', problems: [] });
  expect(screen.getByTestId('change-phase').textContent).toBe('refused');
});

it('one sentence says that a file is no patch', async () => {
  const { store } = shown();
  const file = new File(['hello'], 'photo.png');
  fireEvent.drop(document, { dataTransfer: { types: ['Files'], files: [file] } });
  await waitFor(() => expect(store.errors.get()[0]?.sentence).toBe('photo.png is not a patch.'));
  expect(screen.queryByTestId('change-pane')).toBeNull();
});

it('is off with its reason, and the text can be read', async () => {
  const off = 'There is no sandbox on this server.';
  const answer = () => Promise.resolve(new Response(JSON.stringify({ ...source, off })));
  vi.stubGlobal('fetch', vi.fn(answer));
  shown();
  fireEvent.click(screen.getByTestId('change'));
  const code = await screen.findByTestId('change-code', undefined, { timeout: 20_000 });
  expect(code.textContent).toContain('second');
  expect(screen.getByTestId('run-change')).toHaveProperty('title', off);
  cleanup();
  shown({ shut: 'There is no connection to the server now.' });
  expect(screen.getByTestId('change')).toHaveProperty('disabled', true);
});

it('is nothing in an exported site', () => {
  expect(Object.keys(found)).toEqual([]);
});
