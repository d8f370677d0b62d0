// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { wholeMessage } from '../../../test/fixtures/whole.ts';
import type { ChangedMessage, LaneMessage } from '../../protocol/messages.ts';
import { armsBeside, laneWord, progressOf } from './door.tsx';

const changed = (change: Partial<ChangedMessage>): ChangedMessage => ({
  ...wholeMessage('changed', { lesson: 'l', base: 'srcu', arm: 'own-1', phase: 'wait' }),
  ...change,
});
const lane = (phase: LaneMessage['phase']): LaneMessage => ({
  ...wholeMessage('lane', { run_id: 'r', arm: 'own-1', phase: 'booting' }),
  phase,
  message: '',
});

it('each phase has its words', () => {
  const words = (change: Partial<ChangedMessage>) => progressOf(changed(change), null).words;
  expect(progressOf(null, null).words).toBe('sent');
  expect(words({ ahead: 2 })).toBe('waiting for 2 builds ahead');
  expect(words({})).toBe('the kernel’s build comes next');
  expect(words({ phase: 'compile', done: 3, total: 12 })).toBe('compiling 3 of 12');
  expect(words({ phase: 'compile' })).toBe('compiling');
  expect(progressOf(changed({ phase: 'failed' }), null).over).toBe('ended badly');
  const built = changed({ phase: 'built' });
  expect(progressOf(built, null).stage).toBe('boot');
  expect(progressOf(built, lane('ready')).words).toContain('booted');
  expect(progressOf(built, lane('running'))).toEqual({ stage: 'run', words: 'runs', over: 'runs' });
  expect(progressOf(built, lane('failed')).over).toBe('ended badly');
});

it('runs beside the arms of the step, five lanes at most', () => {
  expect(armsBeside({ arms: ['a', 'b'] }, 'b', 'own-1')).toEqual(['a', 'b', 'own-1']);
  expect(armsBeside({ arms: ['a', 'b', 'c', 'd', 'e'] }, 'e', 'own-1')).toEqual([
    'a',
    'b',
    'c',
    'e',
    'own-1',
  ]);
  expect(armsBeside({ arms: ['a'] }, 'b', 'own-1')).toEqual(['a', 'b', 'own-1']);
  expect(armsBeside({ arms: ['a', 'b', 'own-0'] }, 'b', 'own-1')).toEqual(['a', 'b', 'own-1']);
  expect(laneWord(3)).toBe('third lane');
});
