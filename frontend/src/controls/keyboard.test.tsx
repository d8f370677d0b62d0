// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent } from '@testing-library/react';
import { afterEach, describe, expect, it, test } from 'vitest';
import { ns } from '../base/units.ts';
import { type Action, initialPlayback, type PlaybackState, reduce } from '../playback/machine.ts';
import { actOf, keyList, shareKey, type WindowAct, windowActs } from './keyboard.ts';

describe('keyboard', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later

  afterEach(() => {
    cleanup();
    localStorage.clear();
  });

  describe('the keyboard', () => {
    const keys = keyList('umount');
    const press = (key: string, on: HTMLElement = document.body, more = {}) => {
      let act: ReturnType<typeof actOf> = null;
      const listen = (event: KeyboardEvent) => {
        act = actOf(event, keys);
      };
      document.addEventListener('keydown', listen);
      fireEvent.keyDown(on, { key, ...more });
      document.removeEventListener('keydown', listen);
      return act;
    };

    it('plays, steps, jumps and helps', () => {
      expect(
        [' ', 'ArrowRight', 'PageDown', 'PageUp', 'n', 'd', 'p', '?', 'w', 'Escape'].map((k) =>
          press(k),
        ),
      ).toEqual([
        'toggle',
        'beat-on',
        'step-on',
        'step-back',
        'long-wait',
        'divergence',
        'present',
        'help',
        'words',
        'deselect',
      ]);
      expect(press('ArrowLeft', document.body, { shiftKey: true })).toBe('event-back');
    });

    it('leaves fields, buttons and shortcuts of the browser alone', () => {
      document.body.innerHTML = '<input id="a"><button id="b" type="button"></button>';
      const at = (id: string) => document.getElementById(id) as HTMLElement;
      expect(press('p', at('a'))).toBeNull();
      expect(press(' ', at('b'))).toBeNull();
      expect(press('p', at('b'))).toBe('present');
      expect(press('p', document.body, { ctrlKey: true })).toBeNull();
      document.body.innerHTML = '';
    });

    it('every act has one row in the help, and no key means two things', () => {
      const all = keys.flatMap((k) => k.keys);
      expect(new Set(all).size).toBe(all.length);
      expect(new Set(keys.map((k) => k.act)).size).toBe(keys.length);
    });
  });
});

// Keys change the window like wheel, drag and brush.
describe('window keys', () => {
  const from: PlaybackState = {
    ...initialPlayback,
    mode: 'paused',
    start: ns(40e6),
    span: 20e6,
    moment: ns(45e6),
  };

  /** The state after a key press. The run ends at 1 s. */
  function after(act: WindowAct): Pick<PlaybackState, 'start' | 'span' | 'mode'> {
    let state = from;
    const index = { lanes: [{ arm: 'a', watermark: 1e9 }], live: false };
    const world = { index: index as never, reduced: false };
    const act_ = (action: Action) => {
      state = reduce(state, action, world);
    };
    windowActs({
      now: () => state,
      view: (start, span) => act_({ type: 'view', start, span }),
      zoom: (factor) => act_({ type: 'zoom', factor }),
      state: { watermark: ns(1e9) },
    })[act]();
    const { start, span, mode } = state;
    return { start, span, mode };
  }

  test.each([
    ['zoom-in', 42.5e6, 10e6],
    ['zoom-out', 35e6, 40e6],
    ['window-back', 30e6, 20e6],
    ['window-on', 50e6, 20e6],
    ['window-from', 45e6, 15e6],
    ['window-to', 40e6, 5e6],
    ['whole-run', 0, 1e9],
  ] as const)('%s', (act, start, span) => {
    expect(after(act)).toEqual({ start, span, mode: 'paused' });
  });

  test('no two keys are the same', () => {
    const keys = keyList('stat', 'stat', true, [shareKey]).flatMap((key) => key.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
