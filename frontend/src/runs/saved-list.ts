// SPDX-License-Identifier: GPL-2.0-or-later
/** The live runs that the server has kept, and two of them (or of the recordings) against each other. */

import { useCallback, useEffect, useState } from 'react';
import { siteOf } from '../base/site.ts';
import { sentenceCase } from '../ui/words.ts';

/** One line of the server's list; without a lesson it cannot be opened. */
export interface SavedRun {
  readonly name: string;
  readonly lesson: string | null;
  readonly arms: readonly string[];
  readonly workload?: string;
  readonly params?: Readonly<Record<string, number>>;
  readonly clock?: string;
  readonly bytes: number;
  readonly recorded_at?: string;
  /** This visitor may delete it. */
  readonly deletable?: boolean;
}

export interface Difference {
  readonly of: string;
  readonly what: string;
  readonly arm: string;
  readonly recorded: string;
  readonly now: string;
}

export interface FigurePair {
  readonly arm: string;
  readonly figure: string;
  readonly recorded: number | null;
  readonly now: number | null;
  readonly ratio: number | null;
}

/** One of the two, as its manifest says. */
export interface ComparedSide {
  readonly created: string;
  readonly arms: readonly string[];
}

export interface Comparison {
  readonly lesson: string;
  /** The first, then the second. */
  readonly sides: readonly ComparedSide[];
  readonly differences: readonly Difference[];
  readonly figures: readonly FigurePair[];
  readonly only: Readonly<Record<string, 'first' | 'second'>>;
  readonly worth: string;
}

/** What `open` and the address call a kept run. */
export function savedId(run: Pick<SavedRun, 'name' | 'lesson'>): string {
  return `kept:${run.lesson}:${run.name}`;
}

/** The answer of the server, or its sentence as an error. */
export async function ask<T>(url: string, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(url, init).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new Error('The server did not answer. Is it still running?');
  });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.ok) return body as T;
  const said = (body as { error?: { sentence?: string; remedy?: string } } | null)?.error;
  throw new Error(
    said?.sentence
      ? `${sentenceCase(said.sentence)} ${said.remedy ?? ''}`
      : `The server refused (${answer.status}).`,
  );
}

interface Kept {
  /** Null until the server has answered. */
  readonly runs: readonly SavedRun[] | null;
  readonly failed: string;
  readonly remove: (name: string) => Promise<void>;
}

const againMs = 3000;

/** The list of one lesson ('' for all), asked for again while it is looked at: a run is kept seconds after its end. */
export function useSavedRuns(lesson: string, looking: boolean): Kept {
  const [runs, setRuns] = useState<readonly SavedRun[] | null>(null);
  const [failed, setFailed] = useState('');
  const [asked, setAsked] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a removal asks again
  useEffect(() => {
    if (!looking || siteOf() !== null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const look = () =>
      ask<unknown>(`api/kept?lesson=${encodeURIComponent(lesson)}`, {
        signal: stop.signal,
      })
        .then(
          (list) => {
            setRuns(Array.isArray(list) ? (list as readonly SavedRun[]) : []);
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
      await ask(`api/kept/${encodeURIComponent(name)}`, { method: 'DELETE' });
    } catch (cause) {
      setFailed(cause instanceof Error ? cause.message : String(cause));
    }
    setAsked((n) => n + 1);
  }, []);
  return { runs, failed, remove };
}
