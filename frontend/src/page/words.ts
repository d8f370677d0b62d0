// SPDX-License-Identifier: GPL-2.0-or-later
/** What a lesson page says of runs that are read, prepared, refused or of no use. Pure. */

import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { knobWords, sceneParams } from '../navigation/knobs.ts';
import type { Lesson, Prediction, Scene } from '../protocol/lesson.ts';
import type { HelloMessage, ReadingMessage, RunMessage } from '../protocol/messages.ts';
import type { Connection } from '../protocol/socket.ts';
import { type Contended, unjudged } from '../runs/runs-line.tsx';

/** That a recording is being read, and how far; empty while none is. */
export function comingWords(
  reading: ReadingMessage | null,
  run: RunMessage | null,
  awaiting: boolean,
): string {
  if (reading === null || (!awaiting && reading.run_id !== run?.run_id)) return '';
  const share = reading.total > 0 ? Math.floor((100 * reading.read) / reading.total) : 0;
  return t('reading the recording…{share}', { share: share > 0 ? ` ${share} %` : '' });
}

export function pendingWords(run: RunMessage): string {
  if (run.source === 'recorded') return t('another recording is on its way');
  return (
    run.message ||
    (run.phase === 'booting' ? t('guests are booting') : t('a live run is being prepared'))
  );
}

/** Why no live run can begin now; empty: one can. */
export function blockedWords(connection: Connection, hello: HelloMessage | null): string {
  if (connection.state !== 'open') return t('There is no connection to the server now.');
  if (hello?.live !== false) return '';
  return siteOf()
    ? t('This page plays a recording; it has no server that could run kernels.')
    : t('This server shows recordings only; its guests are switched off.');
}

/** Why a prediction is not judged now; empty when it is. A table answers whatever run is on the stage. */
export function notJudged(
  lesson: Lesson,
  scene: Scene,
  prediction: Prediction,
  run: RunMessage | null,
  contended: Contended | null,
): string {
  if (prediction.measured_on !== null) return '';
  return unfit(lesson, scene, prediction.params, run) || unjudged(contended, prediction);
}

/** Why the run on the stage cannot answer a prediction; empty when it can. */
export function unfit(
  lesson: Lesson,
  scene: Scene,
  params: Readonly<Record<string, number>>,
  run: RunMessage | null,
): string {
  const there = run === null ? params : sceneParams({ ...scene, params }, run.clock);
  const requested = Object.keys(params).map((k) => [k, there[k] ?? 0] as const);
  const wrong = requested.filter(([k, v]) => run !== null && run.params[k] !== v);
  if (wrong.length === 0) return '';
  return t('The run on the stage cannot answer: it takes one with {list}.', {
    list: wrong.map(([k, v]) => knobWords(lesson, k, v)).join(', '),
  });
}
