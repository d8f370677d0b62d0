// SPDX-License-Identifier: GPL-2.0-or-later
/** The state of a lane, as a word and as a sentence. Pure. */

import { assertNever } from '../base/assert.ts';
import { t } from '../base/lang/t.ts';
import type { BuildMessage, LaneMessage } from '../protocol/messages.ts';
import { sentenceCase } from '../ui/words.ts';

export interface PhaseWords {
  readonly name: string;
  readonly words: string;
  /** Progress, 0 to 1; null if it is unknown when the work will end. */
  readonly progress: number | null;
  readonly bad: boolean;
  readonly sentence: string;
  readonly remedy: string;
}

function plain(name: string, words: string, progress: number | null = null): PhaseWords {
  return { name, words, progress, bad: false, sentence: '', remedy: '' };
}

const buildWords: Record<BuildMessage['phase'], string> = {
  wait: t('waiting for the kernel’s build'),
  extract: t('fetching and unpacking the source'),
  patch: t('patching'),
  config: t('configuring'),
  compile: t('building'),
  link: t('linking'),
  store: t('storing the kernel'),
  done: t('built'),
  failed: t('build failed'),
};

/** The state of a kernel build that is running or has failed. */
export function buildPhase(build: BuildMessage | null): PhaseWords | null {
  if (!build || build.phase === 'done') return null;
  if (build.phase === 'failed')
    return {
      name: 'failed',
      words: buildWords.failed,
      progress: null,
      bad: true,
      sentence: sentenceCase(build.error?.sentence ?? build.message),
      remedy: build.error?.remedy ?? '',
    };
  const share = build.total > 0 ? build.done / build.total : null;
  const percent =
    build.phase === 'compile' && share !== null ? ` ${Math.floor(share * 100)} %` : '';
  return plain(
    'building',
    buildWords[build.phase] + percent,
    build.phase === 'compile' ? share : null,
  );
}

/**
 * The latest state of a lane. Recordings are always called recordings, even while live guests are being prepared. The
 * state of a kernel build is only shown before the guest exists.
 */
export function lanePhase(
  lane: LaneMessage | null,
  build: BuildMessage | null,
  recorded: boolean,
  pending = false,
  missing = false,
): PhaseWords {
  if (missing && !pending)
    return plain('missing', recorded ? t('not in this recording') : t('not in this run'));
  if (!recorded) return livePhase(lane, build);
  if (!pending) {
    const building = buildPhase(build);
    const words = building
      ? t('recorded; live: {words}', { words: building.words })
      : t('recorded');
    return building ? { ...building, name: 'recorded', words } : plain('recorded', t('recorded'));
  }
  const live = livePhase(lane, build);
  return { ...live, words: t('recorded; live: {words}', { words: live.words }) };
}

function livePhase(lane: LaneMessage | null, build: BuildMessage | null): PhaseWords {
  if (lane?.phase === 'failed')
    return {
      name: 'failed',
      words: t('failed'),
      progress: null,
      bad: true,
      sentence: sentenceCase(lane.message),
      remedy: lane.remedy,
    };
  if (!lane || lane.phase === 'waiting' || lane.phase === 'building')
    return buildPhase(build) ?? plain(lane?.phase ?? 'waiting', lane?.message || t('not started'));
  switch (lane.phase) {
    case 'booting':
      return plain('booting', lane.message || t('booting'));
    case 'ready':
      return plain('ready', t('booted, waiting for the other guests'));
    case 'running':
      return plain('running', t('live'));
    case 'draining':
      return plain('draining', t('live, receiving the last events'));
    case 'done':
      return plain('done', t('live run, over'));
    case 'stopped':
      return plain('stopped', t('live run, stopped'));
    default:
      return assertNever(lane.phase);
  }
}
