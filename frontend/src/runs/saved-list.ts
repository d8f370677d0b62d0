// SPDX-License-Identifier: GPL-2.0-or-later
/** The live runs that the server has saved, and two of them (or of the recordings) against each other. */

import { useCallback, useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { check, list, type Read } from '../protocol/check.ts';
import { readDeleted, readFailureBody, readSavedRun } from '../protocol/contract.checks.gen.ts';
import type * as wire from '../protocol/contract.gen.ts';
import { sentenceCase } from '../ui/words.ts';

/** One line of the server's list; without a lesson it cannot be opened. */
export type SavedRun = wire.SavedRun;
export type Difference = wire.Difference;
export type FigurePair = wire.FigurePair;
/** One of the two, as its manifest says. */
export type ComparedSide = wire.Side;
/** The first, then the second. */
export type Comparison = wire.Comparison;

/** What `open` and the address call a saved run. */
export function savedId(run: Pick<SavedRun, 'name' | 'lesson'>): string {
  return `kept:${run.lesson}:${run.name}`;
}

/** The answer of the server, checked, or its sentence as an error. */
export async function ask<T>(url: string, read: Read<T>, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(url, init).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new Error(t('The server did not answer. Is it still running?'));
  });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.ok) {
    const checked = check(read, body);
    if (checked.ok) return checked.value;
    throw new Error(
      t(
        "The server's answer is not one that this page knows: {place} {complaint}. Reload the page.",
        { place: checked.place, complaint: checked.complaint },
      ),
    );
  }
  const failure = check(readFailureBody, body);
  if (!failure.ok) throw new Error(t('The server refused ({status}).', { status: answer.status }));
  const { sentence, remedy } = failure.value.error;
  throw new Error(`${sentenceCase(sentence)} ${remedy}`);
}

interface SavedRunList {
  /** Null until the server has answered. */
  readonly runs: readonly SavedRun[] | null;
  readonly failed: string;
  readonly remove: (name: string) => Promise<void>;
}

const readSavedRuns = list(readSavedRun);

const againMs = 3000;

/** The list of one lesson ('' for all), asked for again while it is looked at: a run is saved seconds after its end. */
export function useSavedRuns(lesson: string, looking: boolean): SavedRunList {
  const [runs, setRuns] = useState<readonly SavedRun[] | null>(null);
  const [failed, setFailed] = useState('');
  const [asked, setAsked] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a removal asks again
  useEffect(() => {
    if (!looking || siteOf() !== null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const look = () =>
      ask(`api/kept?lesson=${encodeURIComponent(lesson)}`, readSavedRuns, {
        signal: stop.signal,
      })
        .then(
          (runs) => {
            setRuns(runs);
            setFailed('');
          },
          (cause: Error) => setFailed(stop.signal.aborted ? '' : cause.message),
        )
        .finally(() => {
          if (!stop.signal.aborted) timer = setTimeout(look, againMs);
        });
    void look();
    return () => {
      stop.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [lesson, looking, asked]);
  const remove = useCallback(async (name: string) => {
    try {
      await ask(`api/kept/${encodeURIComponent(name)}`, readDeleted, { method: 'DELETE' });
    } catch (cause) {
      setFailed(cause instanceof Error ? cause.message : String(cause));
    }
    setAsked((n) => n + 1);
  }, []);
  return { runs, failed, remove };
}
