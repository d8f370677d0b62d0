// SPDX-License-Identifier: GPL-2.0-or-later
/** Keys do what wheel, drag and brush do. */

import { expect, test } from 'vitest';
import { ns } from '../base/units.ts';
import { type Action, initialPlayback, type PlaybackState, reduce } from '../playback/machine.ts';
import { keyList } from './keyboard.ts';
import { type WindowAct, windowActs } from './window-keys.ts';

const from: PlaybackState = {
  ...initialPlayback,
  mode: 'paused',
  start: ns(40e6),
  span: 20e6,
  moment: ns(45e6),
};

/** The state after a key; the run ends at 1 s. */
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
  const keys = keyList('stat').flatMap((key) => key.keys);
  expect(new Set(keys).size).toBe(keys.length);
});
