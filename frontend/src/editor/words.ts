// SPDX-License-Identifier: GPL-2.0-or-later
/** How far a change is, in words and as stages; and which lanes it runs beside. Pure. */

import { t } from '../base/lang/t.ts';
import type { Scene } from '../protocol/lesson.ts';
import type { ChangedMessage, LaneMessage } from '../protocol/messages.ts';
import { isOwn } from '../store/changes.ts';

/** A run has at most so many lanes. */
const mostLanes = 5;

export const stages = ['queue', 'compile', 'link', 'boot', 'run'] as const;
export type Stage = (typeof stages)[number];

export interface Progress {
  readonly stage: Stage;
  readonly words: string;
  readonly over: 'not yet' | 'runs' | 'ended badly';
}

const stageOf: Readonly<Record<ChangedMessage['phase'], Stage>> = {
  refused: 'queue',
  wait: 'queue',
  extract: 'compile',
  patch: 'compile',
  config: 'compile',
  compile: 'compile',
  link: 'link',
  store: 'link',
  built: 'boot',
  failed: 'compile',
};

const plain: Readonly<Record<ChangedMessage['phase'], string>> = {
  refused: t('refused'),
  wait: t('its build comes next'),
  extract: t('fetching and unpacking the source'),
  patch: t('putting the change on'),
  config: t('configuring'),
  compile: t('compiling'),
  link: t('linking the kernel'),
  store: t('storing the kernel'),
  built: t('built; its guest is asked for'),
  failed: t('the build failed'),
};

/** `lane`: of the arm that the change made, once a run has it. */
export function progressOf(changed: ChangedMessage | null, lane: LaneMessage | null): Progress {
  if (changed === null) return { stage: 'queue', words: t('sent'), over: 'not yet' };
  const { phase, ahead, done, total } = changed;
  if (phase === 'refused' || phase === 'failed')
    return { stage: stageOf[phase], words: plain[phase], over: 'ended badly' };
  if (phase === 'built' && lane !== null) return bootOf(lane);
  const words =
    phase === 'wait' && ahead > 0
      ? t('waits for {ahead, plural, one {# build} other {# builds}} before it', { ahead })
      : phase === 'compile' && total > 0
        ? t('compiling {done} of {total}', { done, total })
        : plain[phase];
  return { stage: stageOf[phase], words, over: 'not yet' };
}

function bootOf(lane: LaneMessage): Progress {
  switch (lane.phase) {
    case 'waiting':
    case 'building':
    case 'booting':
      return { stage: 'boot', words: lane.message || t('its guest boots'), over: 'not yet' };
    case 'ready':
      return { stage: 'boot', words: t('booted, waits for the others'), over: 'not yet' };
    case 'failed':
      return { stage: 'boot', words: t('its guest failed'), over: 'ended badly' };
    default:
      return { stage: 'run', words: t('runs'), over: 'runs' };
  }
}

/** The arms of the run that shows a change: the step's, the one that was changed, and the changed one last. */
export function armsBeside(scene: Pick<Scene, 'arms'>, base: string, own: string): string[] {
  const others = scene.arms.filter((arm) => !isOwn(arm));
  const most = others.slice(0, mostLanes - 1);
  if (!most.includes(base)) most.splice(Math.min(most.length, mostLanes - 2), 1, base);
  return [...most, own];
}

/** Which of the lanes it is, counted from 1: `third lane`. */
export function laneWord(n: number): string {
  return t(
    '{n, plural, =1 {first} =2 {second} =3 {third} =4 {fourth} =5 {fifth} other {#th}} lane',
    { n },
  );
}
