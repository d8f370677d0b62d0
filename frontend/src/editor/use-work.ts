// SPDX-License-Identifier: GPL-2.0-or-later
/** The arm's text from the server, with what the viewer typed before, or what a link or a file brought, put on it. */

import { useEffect, useState, useSyncExternalStore } from 'react';
import { t } from '../base/lang/t.ts';
import { readArmSource } from '../protocol/contract.checks.gen.ts';
import { ask } from '../runs/saved-runs.tsx';
import { diffOf } from './diff.ts';
import type { Incoming, Opened } from './door.tsx';
import { readDraft, writeDraft } from './draft.ts';
import { Work } from './work.ts';

export type Loaded =
  | { readonly state: 'asking' }
  | { readonly state: 'failed'; readonly sentence: string }
  | { readonly state: 'here'; readonly work: Work; readonly note: string };

/** Writing to the browser's store waits until the viewer rests for so long, ms. */
const restMs = 400;

const noLink = t('The change in this link is cut off or damaged: nothing was taken from it.');

/** Works of this visit, so that undo survives closing the pane. */
const works = new Map<string, Work>();
const mostWorks = 4;

export function useWork(slug: string, { arm, incoming }: Opened): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ state: 'asking' });
  useEffect(() => {
    const stop = new AbortController();
    setLoaded({ state: 'asking' });
    workOf(slug, arm, stop.signal).then(
      (work) => setLoaded({ state: 'here', work, note: taken(work, incoming) }),
      (cause: unknown) => {
        if (stop.signal.aborted) return;
        setLoaded({ state: 'failed', sentence: cause instanceof Error ? cause.message : '' });
      },
    );
    return () => stop.abort();
  }, [slug, arm, incoming]);
  return loaded;
}

async function workOf(slug: string, arm: string, signal: AbortSignal): Promise<Work> {
  const key = `${slug} ${arm}`;
  const known = works.get(key);
  // What the server could not give may be there now.
  if (known && !known.readOnly) return known;
  const url = `api/lessons/${encodeURIComponent(slug)}/arms/${encodeURIComponent(arm)}/source`;
  const source = await ask(url, readArmSource, { signal });
  const work = new Work(source);
  const draft = readDraft(slug, arm);
  if (draft !== '') work.take(draft);
  for (const old of [...works.keys()].slice(0, Math.max(0, works.size - mostWorks + 1)))
    works.delete(old);
  works.set(key, work);
  let timer: ReturnType<typeof setTimeout> | undefined;
  work.typed.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(() => writeDraft(slug, arm, work.diff()), restMs);
  });
  return work;
}

/** Applies what came from outside; gives the sentences that say so, or nothing. */
function taken(work: Work, incoming: Incoming | null): string {
  if (incoming === null) return '';
  const diff = diffOf(incoming.text);
  if (diff === '') return noLink;
  const had = work.diff() !== '' && work.diff() !== diff;
  const file = incoming.from === 'file';
  work.take(diff, file);
  const whence = file ? t('This is the diff of the file.') : t('This change came with the link.');
  const own = work.apart ? t('Your own text is behind it.') : t('Undo brings your own text back.');
  return [whence, had && own, t('Nothing runs until you say so.')].filter(Boolean).join(' ');
}

/** Shows the work as it stands; the number rises with each change. */
export function useVersion(work: Work): number {
  return useSyncExternalStore(work.subscribe, () => work.version);
}
