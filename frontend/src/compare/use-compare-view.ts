// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Loads two runs at the same time, each with its own store and connection, and the server's list of their differences.
 */

import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { recordingId } from '../derive/recording.ts';
import { indexRun } from '../derive/run-index.ts';
import type { RunIndex } from '../derive/types.ts';
import { readComparison } from '../protocol/contract.checks.gen.ts';
import { type Comparison, fetchChecked } from '../runs/saved-runs.tsx';
import { connect } from '../store/connect.ts';
import { calmly } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';

/** The id of the run that an address names. In contrast to runIdOf, this function does not need the lesson. */
export function comparedId(slug: string, name: string): string {
  return name.includes(':') ? name : recordingId({ slug }, { name });
}

/** The store of the second run, with its own connection. */
export function useSecondStore(): Store {
  const [second] = useState(() => new Store());
  useLayoutEffect(() => {
    const socket = connect(second);
    return () => socket.close();
  }, [second]);
  return second;
}

/** Keep showing the same run in a store, even if another run becomes live. */
export function useOpened(store: Store, slug: string, id: string, wanted: boolean): void {
  const shown = useSyncExternalStore(store.run.subscribe, () => store.run.get()?.run_id ?? null);
  useEffect(() => {
    if (wanted && shown !== id) store.command({ type: 'open', lesson: slug, run: id });
  }, [store, slug, id, shown, wanted]);
}

/** The index of a run in its store; null until the run has arrived. */
export function indexOf(store: Store, id: string): RunIndex | null {
  const run = store.shown();
  const lesson = store.lesson.get();
  return run === null || lesson === null || run.id !== id ? null : indexRun(run, lesson);
}

/** Re-render when the given store changes, at most ten times a second. */
export function useNews(store: Store): void {
  const [subscribe] = useState(() => calmly(store.events));
  useSyncExternalStore(subscribe, () => `${store.run.get()?.run_id} ${store.shown()?.version}`);
  useSyncExternalStore(store.lesson.subscribe, store.lesson.get);
}

export interface Compared {
  readonly found: Comparison | null;
  /** The reason that the runs cannot be compared; empty if they can. */
  readonly refused: string;
}

/** Request the differences between two runs, which are shown before any of their lanes. */
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
        'This page plays a recording and has no server. A comparison of two runs requires a server: start Kernel Duet with “make run”.',
      ),
    );
  if (first === null)
    throw new Error(
      t(
        'The address names only one of the two runs: “with” is there, but “run” is missing. Name both runs.',
      ),
    );
  if (first === second) throw new Error(t('Both runs are the same: choose another run.'));
  const found = await fetchChecked(
    `api/compare?${new URLSearchParams({ first, second })}`,
    readComparison,
    {
      signal,
    },
  );
  if (found.lesson !== slug)
    throw new Error(
      t('Both runs belong to the lesson {lesson}, not to {slug}: open them in {lesson}.', {
        ...{ lesson: found.lesson, slug },
      }),
    );
  return found;
}
