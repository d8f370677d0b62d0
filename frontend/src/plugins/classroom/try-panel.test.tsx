// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { testLesson } from '../../../test/fixtures/page.tsx';
import { wholeMessage } from '../../../test/fixtures/whole.ts';
import { firstKnobs, sceneKnobs } from '../../navigation/knobs.ts';
import { frontPage, type Place } from '../../navigation/place.ts';
import type { ClientMessage } from '../../protocol/messages.ts';
import { StoreProvider } from '../../store/hooks.tsx';
import { Store } from '../../store/store.ts';
import type { ClassOpened, ClassTry } from './class-state.ts';
import { ada, facts, tried, welcome } from './fixtures/classes.ts';
import { ClassroomProvider, useRoom } from './hooks.tsx';
import { useBack, useShow } from './tries.ts';
import { Gallery, OpenSteps, TryIt } from './try-panel.tsx';

const lesson = testLesson();
const scene = lesson.scenes[0]!;
const here: Place = { ...frontPage, lesson: lesson.slug, step: scene.id, moment: 5 };
const at = { lesson: lesson.slug, step: scene.id };

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});

interface Turned {
  readonly hogs?: number;
  readonly attempt?: () => void;
}

function Parts({ hogs, attempt = () => {} }: Turned) {
  const { classroom, room } = useRoom();
  const show = useShow(here);
  const back = useBack({ ...here, beside: 'b' });
  if (classroom === null || room === null) return null;
  const usual = sceneKnobs(lesson, firstKnobs(lesson), scene);
  const knobs = { ...usual, params: { ...usual.params, hogs: hogs ?? usual.params['hogs']! } };
  const actions = { knobs, blocked: '', turnOne: () => {}, attempt };
  return (
    <>
      <OpenSteps {...{ classroom, room, lesson, scene }} />
      <TryIt {...{ room, lesson, scene, actions }} />
      <Gallery {...{ classroom, room, lesson, show }} />
      <button type="button" onClick={back} data-testid="back">
        back
      </button>
    </>
  );
}

function page(part: 'instructor' | 'member', turned: Turned = {}) {
  const store = new Store();
  const sent: ClientMessage[] = [];
  const visits: Place[] = [];
  store.attach((message) => sent.push(message));
  store.dispatch(wholeMessage('hello', { protocol: 1, version: '0', viewer: 'v', lessons: [] }));
  render(
    <StoreProvider store={store}>
      <ClassroomProvider visit={(to) => visits.push(to)} place={frontPage}>
        <Parts {...turned} />
      </ClassroomProvider>
    </StoreProvider>,
  );
  const come = (...messages: Parameters<Store['dispatch']>[0][]) =>
    act(() => {
      for (const message of messages) store.dispatch(message);
    });
  come(welcome(part), facts({ part, driving: false, driver: 'Bo' }));
  const opened = (change: Partial<ClassOpened> = {}) => {
    const none = { steps: [], gallery: false, no_runs: '', no_patches: '' };
    come({ type: 'class_opened', class_id: 'c', ...none, ...change });
  };
  const tries = (...all: ClassTry[]) => come({ type: 'class_tries', class_id: 'c', tries: all });
  return { sent, visits, opened, tries };
}

const disabled = (id: string) => (screen.getByTestId(id) as HTMLButtonElement).disabled;

test('the instructor opens a step for knobs, then for patches, where the server allows both', async () => {
  const { sent, opened } = page('instructor');
  opened({ no_patches: 'This server compiles no kernels.' });
  await userEvent.click(screen.getByTestId('class-open-knobs'));
  opened({ steps: [{ ...at, patches: false }], no_patches: 'This server compiles no kernels.' });
  expect(disabled('class-open-patches')).toBe(true);
  opened({ steps: [{ ...at, patches: false }] });
  await userEvent.click(screen.getByTestId('class-open-patches'));
  await userEvent.click(screen.getByTestId('class-show-gallery'));
  expect(sent).toEqual([
    { type: 'class_open_step', ...at, knobs: true, patches: false },
    { type: 'class_open_step', ...at, knobs: true, patches: true },
    { type: 'class_show_gallery', shown: true },
  ]);
  opened({ no_runs: 'this server shows recordings only.' });
  expect(disabled('class-open-knobs')).toBe(true);
});

test('a member tries once the step is open and a knob is turned', async () => {
  let asked = 0;
  const { opened } = page('member', { hogs: 5, attempt: () => asked++ });
  expect(screen.queryByTestId('class-try')).toBeNull();
  opened({ steps: [{ ...at, patches: false }] });
  await userEvent.click(screen.getByTestId('class-try'));
  expect(asked).toBe(1);
  cleanup();
  const { opened: again } = page('member');
  again({ steps: [{ ...at, patches: false }] });
  expect(disabled('class-try')).toBe(true);
});

test('who made a run takes it back while it waits; nobody but the instructor shows one', async () => {
  const { sent, tries } = page('member');
  const waiting = { state: 'waiting', result: null } as const;
  tries(tried({ number: 1, ...waiting }), tried({ number: 2, makers: [{ ...ada, member: 'x' }] }));
  expect(screen.getAllByTestId('class-take-back-try')).toHaveLength(1);
  await userEvent.click(screen.getByTestId('class-take-back-try'));
  expect(sent).toEqual([{ type: 'class_take_back', number: 1 }]);
  expect(screen.queryByTestId('class-show-2')).toBeNull();
});

test('the instructor takes the wheel, shows a run, and goes back to where he was', async () => {
  const { sent, visits, tries } = page('instructor');
  const running = tried({ number: 2, state: 'running', result: null });
  tries(tried({ step: scene.id }), running);
  expect(disabled('class-show-2')).toBe(true);
  await userEvent.click(screen.getByTestId('class-show-1'));
  expect(sent).toEqual([{ type: 'class_hand', member: '' }]);
  expect(visits).toHaveLength(1);
  expect(visits[0]).toMatchObject({ lesson: lesson.slug, step: scene.id });
  await userEvent.click(screen.getByTestId('back'));
  expect(visits[1]).toEqual(here);
  await userEvent.click(screen.getByTestId('back'));
  expect(visits[2]).toEqual({ ...frontPage, ...at });
});
