// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { readFileSync } from 'node:fs';
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RunControls } from '../src/controls/run-controls.tsx';
import { firstKnobs, withClock } from '../src/navigation/knobs.ts';
import { CountsPanel } from '../src/panels/counts-panel.tsx';
import { StateStrip } from '../src/panels/state-strip.tsx';
import { ClockTerm, TermsProvider, withPageTerms } from '../src/panels/terms/terms.tsx';
import { PlaybackProvider } from '../src/playback/hooks.tsx';
import { StoreProvider } from '../src/store/hooks.tsx';
import { storeOf } from './fixtures/drawing.ts';
import { testLesson, testRun } from './fixtures/page.tsx';

afterEach(cleanup);

const lesson = testLesson();
const noop = () => {};

/** An entry of docs/GLOSSARY.md as a sentence without markup. */
function glossary(word: string): string {
  const file = '../docs/GLOSSARY.md';
  const [, text = ''] =
    new RegExp(`^\\| \\*\\*${word}\\*\\* \\| (.+) \\|$`, 'm').exec(readFileSync(file, 'utf8')) ??
    [];
  const plain = text.replaceAll('*', '');
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`;
}

function show(children: ReactNode): void {
  render(<TermsProvider lesson={lesson}>{children}</TermsProvider>);
}

/** Opens the card of a term as a tap does, then as the keyboard does, and checks both. */
function expectCard(button: HTMLElement, word: string): void {
  fireEvent.click(button);
  expect(screen.getByTestId('term-card').textContent).toBe(`${word} ${glossary(word)}`);
  fireEvent.keyDown(button, { key: 'Escape' });
  expect(screen.queryByTestId('term-card')).toBeNull();
  vi.spyOn(button, 'matches').mockReturnValue(true);
  fireEvent.focus(button);
  expect(screen.getByTestId('term-card').textContent).toContain(glossary(word));
  fireEvent.blur(button);
  expect(screen.queryByTestId('term-card')).toBeNull();
}

function strip(clock: 'wall' | 'count') {
  show(
    <StateStrip
      run={testRun({ clock })}
      kernel={null}
      lanes={2}
      lost={0}
      gaps={0}
      control={null}
      pending=""
      lenses={[]}
      onLoss={noop}
      onLens={noop}
      onControl={noop}
    />,
  );
}

describe("the page's own words", () => {
  test('mean what the glossary says', () => {
    const terms = withPageTerms([]).map(({ name, says }) => [name, says]);
    const words = ['arm', 'lane', 'count clock', 'wall clock'];
    expect(terms).toEqual(words.map((word) => [word, glossary(word)]));
  });

  test.each(['wall', 'count'] as const)('are explained in the badge of the %s clock', (clock) => {
    strip(clock);
    expectCard(within(screen.getByTestId('clock')).getByTestId('term'), `${clock} clock`);
  });

  test('are explained in the badge of the lanes', () => {
    strip('wall');
    expectCard(within(screen.getByTestId('lanes')).getByTestId('term'), 'lane');
  });

  test('are explained in the knobs', () => {
    const knobs = withClock(lesson, firstKnobs(lesson), 'count');
    show(
      <RunControls
        {...{ lesson, knobs }}
        shown={knobs}
        live
        running={false}
        armStates={[]}
        blocked=""
        onKnobs={noop}
        onRun={noop}
        onStop={noop}
        onAgain={noop}
        clockTitle={<ClockTerm clock={knobs.clock}>clock</ClockTerm>}
      />,
    );
    fireEvent.click(screen.getByTestId('more-knobs'));
    expectCard(within(screen.getByTestId('knob-panel')).getByTestId('term'), 'count clock');
  });

  test('are explained in the counts', () => {
    const store = storeOf(`
  rwsem
  storm-0  R!R!
  srcu
  storm-0  RSSS
`);
    show(
      <StoreProvider store={store}>
        <PlaybackProvider>
          <CountsPanel lesson={store.lesson.get()!} arms={['rwsem', 'srcu']} recorded />
        </PlaybackProvider>
      </StoreProvider>,
    );
    expectCard(screen.getByTestId('term'), 'arm');
  });
});
