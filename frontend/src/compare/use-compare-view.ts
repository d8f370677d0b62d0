// SPDX-License-Identifier: GPL-2.0-or-later
/** Two runs at once: a store and a connection for each, and what the server says they differ in. */

import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { recordingId } from '../derive/recording.ts';
import { indexRun } from '../derive/run-index.ts';
import type { RunIndex } from '../derive/types.ts';
import { readComparison } from '../protocol/contract.checks.gen.ts';
import { ask, type Comparison } from '../runs/saved-runs.tsx';
import { connect } from '../store/connect.ts';
import { calmly } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';

/** The id of the run that an address names; known before the lesson is, unlike runIdOf. */
export function comparedId(slug: string, name: string): string {
  return name.includes(':') ? name : recordingId({ slug }, { name });
}

/** A store of its own for the second run, with a connection of its own. */
export function useSecondStore(): Store {
  const [second] = useState(() => new Store());
  useLayoutEffect(() => {
    const socket = connect(second);
    return () => socket.close();
  }, [second]);
  return second;
}

/** Keeps a run on a store: what begins to run live meanwhile is of no interest here. */
export function useOpened(store: Store, slug: string, id: string, wanted: boolean): void {
  const shown = useSyncExternalStore(store.run.subscribe, () => store.run.get()?.run_id ?? null);
  useEffect(() => {
    if (wanted && shown !== id) store.command({ type: 'open', lesson: slug, run: id });
  }, [store, slug, id, shown, wanted]);
}

/** The index of one run; null until it comes. */
export function indexOf(store: Store, id: string): RunIndex | null {
  const run = store.shown();
  const lesson = store.lesson.get();
  return run === null || lesson === null || run.id !== id ? null : indexRun(run, lesson);
}

/** Renders anew when a store that is not the page's own has news, at most ten times a second. */
export function useNews(store: Store): void {
  const [subscribe] = useState(() => calmly(store.events));
  useSyncExternalStore(subscribe, () => `${store.run.get()?.run_id} ${store.shown()?.version}`);
  useSyncExternalStore(store.lesson.subscribe, store.lesson.get);
}

export interface Compared {
  readonly found: Comparison | null;
  /** Why they cannot be laid beside each other. */
  readonly refused: string;
}

/** What two runs differ in; it is known before a lane is shown. */
export function useComparison(slug: string, first: string | null, second: string): Compared {
  const [compared, set] = useState<Compared>({ found: null, refused: '' });
  useEffect(() => {
    const stop = new AbortController();
    set({ found: null, refused: '' });
    compare(slug, first, second, stop.signal).then(
      (found) => set({ found, refused: '' }),
      (cause: Error) => {
        if (!stop.signal.aborted) set({ found: null, refused: cause.message });
      },
    );
    return () => stop.abort();
  }, [slug, first, second]);
  return compared;
}

async function compare(
  slug: string,
  first: string | null,
  second: string,
  signal: AbortSignal,
): Promise<Comparison> {
  if (siteOf() !== null)
    throw new Error(
      t(
        'This page plays a recording and has no server, which it takes to compare two: start Kernel Duet with “make run”.',
      ),
    );
  if (first === null)
    throw new Error(t('The address names one run (with) but not the other (run): name both.'));
  if (first === second) throw new Error(t('Both are the same run: choose another one.'));
  const found = await ask(`api/compare?${new URLSearchParams({ first, second })}`, readComparison, {
    signal,
  });
  if (found.lesson !== slug)
    throw new Error(
      t('Both runs belong to the lesson {lesson}, not to {slug}: open them there.', {
        ...{ lesson: found.lesson, slug },
      }),
    );
  return found;
}
