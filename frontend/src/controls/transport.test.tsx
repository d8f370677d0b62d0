// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { type ComponentProps, createElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { frameOver } from '../../test/fixtures/drawing.ts';
import { testLesson } from '../../test/fixtures/page.tsx';
import { unaligned } from '../derive/align.ts';
import { keyList } from './keyboard.ts';
import { PlayButtons, Transport } from './transport.tsx';

afterEach(cleanup);

const nothing = () => undefined;
const frame = { get: () => frameOver(0, 2, 1), subscribe: () => nothing };
const playing = {
  moving: true,
  backwards: false,
  empty: false,
  beat: 'umount',
  onToggle: nothing,
  onBeat: nothing,
};

function transport(more: Partial<ComponentProps<typeof Transport>>) {
  const props: ComponentProps<typeof Transport> = {
    ...playing,
    ...{ frame, speed: 1, align: 'time', armed: false, live: false, operation: 'umount' },
    ...{
      unaligned: null,
      nth: null,
      at: { n: 1, most: 3 },
      axis: null,
      overview: null,
      hidden: '',
      lanes: 2,
    },
    ...{ onAt: nothing, onBackwards: nothing, onEvent: nothing, onSpeed: nothing },
    ...{ onAlign: nothing, onLongWait: null, onDivergence: nothing, onLoss: null },
    ...{ onScope: nothing, onWords: nothing },
    ...{ noLongWait: '', noDivergence: '', noMarker: '' },
    ...more,
  };
  render(createElement(Transport, props));
}

const choices = () =>
  [...screen.getByLabelText('Align lanes by').querySelectorAll('button')].map(
    ({ dataset, disabled }) => [dataset['testid'], disabled],
  );

describe('aligning by an operation', () => {
  const { operation } = testLesson();

  it('is offered where events tell of operations', () => {
    expect(unaligned({ operation: { ...operation, open: 'enter_umount' } })).toBeNull();
    const onAlign = vi.fn();
    transport({ onAlign });
    expect(choices()).toEqual([
      ['align-time', false],
      ['align-operation', false],
      ['align-marker', false],
    ]);
    fireEvent.click(screen.getByTestId('align-operation'));
    expect(onAlign).toHaveBeenCalledWith('operation');
    expect(keyList('umount').map(({ act }) => act)).toContain('align-marker');
  });

  it('is there but says why it cannot be where none does', () => {
    const why = unaligned({ operation: { ...operation, open: null } });
    expect(why).toContain('no event tells when a umount begins or ends');
    const onAlign = vi.fn();
    transport({ unaligned: why, onAlign });
    expect(choices()).toEqual([
      ['align-time', false],
      ['align-operation', true],
      ['align-marker', true],
    ]);
    expect(screen.getByTestId('align-marker').title).toBe(why);
    expect(screen.getByTestId('align-time').title).toBe('');
    fireEvent.click(screen.getByTestId('align-operation'));
    expect(onAlign).not.toHaveBeenCalled();
    const acts = keyList('stat', 'access', false).map(({ act }) => act);
    expect(acts).toContain('align-time');
    expect(acts).not.toContain('align-operation');
    expect(acts).not.toContain('align-marker');
  });
});

describe('jumps', () => {
  const buttons = ['long-wait', 'divergence', 'align-marker'] as const;

  it('are off where they cannot lead anywhere, and say why', () => {
    const onDivergence = vi.fn();
    const why = { noLongWait: 'nobody waits', noDivergence: 'one lane', noMarker: 'no umount yet' };
    transport({ onLongWait: nothing, onDivergence, ...why });
    const said = buttons.map((name) => screen.getByTestId(name).title);
    expect(said).toEqual(['nobody waits', 'one lane', 'no umount yet']);
    fireEvent.click(screen.getByTestId('divergence'));
    expect(onDivergence).not.toHaveBeenCalled();
    cleanup();
    transport({ onLongWait: nothing, onDivergence });
    for (const name of buttons)
      expect(screen.getByTestId<HTMLButtonElement>(name).disabled).toBe(false);
    fireEvent.click(screen.getByTestId('divergence'));
    expect(onDivergence).toHaveBeenCalled();
  });
});

describe('before a prediction', () => {
  it('hides the overview and the words of the picture, and says why', () => {
    const onWords = vi.fn();
    const why = 'Say first what you expect.';
    transport({ overview: 'the run', hidden: why, onWords });
    expect(screen.getByTestId('overview').textContent).toBe(why);
    const words = screen.getByTestId('in-words');
    fireEvent.click(words);
    expect(onWords).not.toHaveBeenCalled();
    expect(words.title).toBe(why);
    cleanup();
    transport({ overview: 'the run' });
    expect(screen.getByTestId('overview').textContent).toBe('the run');
  });
});

describe('the buttons that play', () => {
  const names = () =>
    screen.getAllByRole('button').map((button) => button.getAttribute('aria-label'));

  it('are three in a frame of slides, and all on the whole page', () => {
    render(createElement(PlayButtons, playing));
    expect(names()).toEqual(['One umount back', 'Pause', 'One umount forward']);
    cleanup();
    render(createElement(PlayButtons, { ...playing, onEvent: nothing, onBackwards: nothing }));
    expect(names()).toEqual([
      ...['One umount back', 'One event back', 'Play backwards'],
      ...['Pause', 'One event forward', 'One umount forward'],
    ]);
  });

  it('say which way it goes, and what a press would do', () => {
    render(
      createElement(PlayButtons, {
        ...playing,
        backwards: true,
        onEvent: nothing,
        onBackwards: nothing,
      }),
    );
    expect(screen.getByTestId('play-back').getAttribute('aria-label')).toBe('Pause');
    expect(screen.getByTestId('play').getAttribute('aria-label')).toBe('Play');
    const onBeat = vi.fn();
    cleanup();
    render(createElement(PlayButtons, { ...playing, onBeat }));
    fireEvent.click(screen.getByTestId('beat-back'));
    fireEvent.click(screen.getByTestId('beat-forward'));
    expect(onBeat.mock.calls).toEqual([[-1], [1]]);
  });
});
