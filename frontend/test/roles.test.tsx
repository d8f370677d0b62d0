// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { RunControls } from '../src/controls/run-controls.tsx';
import { Front } from '../src/home/home.tsx';
import { firstKnobs } from '../src/navigation/knobs.ts';
import { MeasuredPanel } from '../src/panels/measured-panel.tsx';
import type { HelloMessage } from '../src/protocol/messages.ts';
import { closeReason } from '../src/protocol/socket.ts';
import { StoreProvider } from '../src/store/hooks.tsx';
import { Store } from '../src/store/store.ts';
import { testLesson } from './fixtures/page.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const lesson = testLesson();
const nothing = () => {};
const measure = 'A student may not measure; that takes the role instructor or higher.';
const run = 'A viewer may not start a live run; that takes the role student or higher.';

function shownTo(role: HelloMessage['role'], denied: HelloMessage['denied'], page: ReactNode) {
  const store = new Store();
  const hello = { type: 'hello', protocol: 1, version: '0', viewer: 'v', live: true } as const;
  store.dispatch({ ...hello, role, denied, lessons: [] });
  render(<StoreProvider store={store}>{page}</StoreProvider>);
}

function desk() {
  return (
    <RunControls
      lesson={lesson}
      knobs={firstKnobs(lesson)}
      shown={null}
      live={false}
      running={false}
      armStates={[]}
      blocked=""
      onKnobs={nothing}
      onRun={nothing}
      onStop={nothing}
      onAgain={nothing}
    />
  );
}

const panel = <MeasuredPanel lesson={lesson} measured={null} blocked="" onMeasure={nothing} />;

test('a viewer reads why nothing can be started', () => {
  shownTo('viewer', { run, measure }, desk());
  expect(screen.getByTestId<HTMLButtonElement>('run').disabled).toBe(true);
  expect(screen.getByTestId('blocked').textContent).toBe(run);
});

test('a student runs, and reads who may measure', () => {
  shownTo(
    'student',
    { measure },
    <>
      {desk()}
      {panel}
    </>,
  );
  expect(screen.getByTestId<HTMLButtonElement>('run').disabled).toBe(false);
  expect(screen.queryByTestId('measure')).toBeNull();
  expect(screen.getByTestId('measure-denied').textContent).toBe(measure);
});

test('an operator is not bothered with roles', () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  shownTo(
    'operator',
    {},
    <>
      {desk()}
      {panel}
      <Front onOpen={nothing} />
    </>,
  );
  expect(screen.getByTestId<HTMLButtonElement>('measure').disabled).toBe(false);
  expect(screen.queryByTestId('blocked')).toBeNull();
  expect(screen.queryByTestId('role')).toBeNull();
});

test('the front page says as whom it was opened', () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  shownTo('instructor', {}, <Front onOpen={nothing} />);
  expect(screen.getByTestId('role').textContent).toBe('You opened this page as an instructor.');
});

test('a page whose link was replaced says so and does not try again', () => {
  const said = 'This browser’s session is over. Open the link to this server again.';
  expect(closeReason(4401, said)).toEqual({ retry: false, reason: said });
});
