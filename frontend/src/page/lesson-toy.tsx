// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The interactive exercise (toy) of a step: an invitation below the step's text, a tab above the stage, and the toy,
 * which replaces the lanes.
 */

import { useState } from 'react';
import { isEnglish, t } from '../base/lang/t.ts';
import { later } from '../base/later.tsx';
import type { RunIndex } from '../derive/types.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import type { TileToy } from '../toys/tiles/types.ts';
import type { Toy } from '../toys/types.ts';
import { viewOf } from '../views/registry.ts';
import type { LessonModel } from './use-lesson-page.ts';

const TilesFrame = later(() => import('../toys/tiles/tiles.tsx').then((m) => m.TilesFrame));
const ToyFrame = later(() => import('../toys/toy.tsx').then((m) => m.ToyFrame));

interface Props {
  readonly page: LessonModel;
}

/** The interactive exercise (toy) of a step; null if the step has none. */
export function toyOf(lesson: Lesson, scene: Scene): Toy | TileToy | null {
  return scene.toy === null ? null : (viewOf(lesson.view).toys?.[scene.toy] ?? null);
}

/** Name of the run that provides the times for the interactive exercise (toy). */
function runWords(run: RunMessage | null, name: string | null): string {
  if (run === null) return '';
  return run.source === 'live'
    ? t('this live run')
    : t('the recording {name}', { name: name ?? run.run_id });
}

/** Whether the interactive exercise (toy) is shown instead of the lanes. */
export function toyOpen({ lesson, scene, place }: LessonModel): boolean {
  return place.panes.includes('toy') && toyOf(lesson, scene) !== null;
}

/** Open or close the interactive exercise (toy). Opening it pauses the run. */
export function turnToy(page: LessonModel, open = !toyOpen(page)): void {
  if (open) page.playback.pause();
  page.toggle('toy', open);
}

export function ToyInvitation({ page }: Props) {
  const toy = toyOf(page.lesson, page.scene);
  if (toy === null) return null;
  const open = toyOpen(page);
  return (
    <section className="toy-invitation" aria-label={t('Try it')}>
      <p>
        <b>{t('Try it: {title}', { title: midSentence(toy.title) })}</b>
      </p>
      <p>{t('You can play with the rule, without a guest.')}</p>
      <button type="button" className="button" onClick={() => turnToy(page)} data-testid="toy-open">
        {open ? t('back to the run') : t('play')}
      </button>
    </section>
  );
}

/** A button that opens the toy on pages without tabs: slides and frames. */
export function ToyButton({ page, hint = '' }: Props & { readonly hint?: string }) {
  const toy = toyOf(page.lesson, page.scene);
  if (toy === null) return null;
  return (
    <button
      type="button"
      className="button"
      title={toy.title}
      aria-pressed={toyOpen(page)}
      onClick={() => turnToy(page)}
      data-testid="toy-open"
    >
      {toyOpen(page) ? t('back to the run') : t('try it')}
      {hint}
    </button>
  );
}

export function ToyTabs({ page }: Props) {
  const toy = toyOf(page.lesson, page.scene);
  if (toy === null) return null;
  const open = toyOpen(page);
  const tab = (shown: boolean, words: string, name: string) => (
    <button
      type="button"
      role="tab"
      className="tab"
      aria-selected={open === shown}
      data-state={open === shown ? 'active' : 'inactive'}
      onClick={() => turnToy(page, shown)}
      data-testid={name}
    >
      {words}
    </button>
  );
  return (
    <div className="tabs toy-tabs" role="tablist" aria-label={t('The run, or the rule to try')}>
      {tab(false, t('what happened'), 'tab-run')}
      {tab(true, t('try it: {title}', { title: midSentence(toy.title) }), 'tab-toy')}
    </div>
  );
}

/** The step's interactive exercise (toy), which works with or without a run. */
export function LessonToy({ page, font = 13 }: Props & { readonly font?: number }) {
  const { lesson, scene, server, nav } = page;
  const toy = toyOf(lesson, scene);
  // Wait for the complete run. Data that arrive later would move the toy's marks while the viewer drags them.
  const index = nav.whole ? page.index : null;
  if (toy === null) return null;
  const run = index === null ? '' : runWords(server.run, nav.runName);
  return (
    <div className="toy-place">
      {/* A different run has different times, so the rule is reset. */}
      {'form' in toy ? (
        <TilesOfRun key={`${scene.id} ${index?.runId}`} {...{ toy, lesson, index, run, font }} />
      ) : (
        <ToyOfRun key={`${scene.id} ${index?.runId}`} {...{ toy, lesson, index, run, font }} />
      )}
    </div>
  );
}

interface OfRunProps<T> {
  readonly toy: T;
  readonly lesson: Lesson;
  readonly index: RunIndex | null;
  readonly run: string;
  readonly font: number;
}

function ToyOfRun({ toy, lesson, index, run, font }: OfRunProps<Toy>) {
  // The run's times are read once, because a live run keeps changing.
  const [times] = useState(() => toy.times(index, lesson));
  return <ToyFrame {...{ toy, times, run, font }} />;
}

function TilesOfRun({ toy, lesson, index, run, font }: OfRunProps<TileToy>) {
  const [game] = useState(() => toy.open(index, lesson));
  return <TilesFrame {...{ toy, game, run, font }} />;
}

/** German nouns keep their capital letter in mid-sentence. */
function midSentence(title: string): string {
  return isEnglish() ? title.toLowerCase() : title;
}
