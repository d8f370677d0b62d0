// SPDX-License-Identifier: GPL-2.0-or-later
/** A lab and how this viewer stands in it, from the server. */

import { useCallback, useEffect, useState } from 'react';
import type { AnswerGiven, LabView, MyLab } from '../protocol/contract.gen.ts';
import { labApi } from './lab-api.ts';

export interface LabNow {
  readonly lab: LabView | null;
  readonly mine: MyLab | null;
  /** Why something failed, a sentence; empty: nothing did. */
  readonly failed: string;
  readonly busy: boolean;
  readonly answer: (task: string, answer: AnswerGiven, name: string) => Promise<boolean>;
  readonly forget: () => Promise<void>;
}

const words = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function useLab(slug: string): LabNow {
  const [lab, setLab] = useState<LabView | null>(null);
  const [mine, setMine] = useState<MyLab | null>(null);
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let gone = false;
    Promise.all([labApi.view(slug), labApi.mine(slug)]).then(
      ([view, own]) => {
        if (gone) return;
        setLab(view);
        setMine(own);
      },
      (error: unknown) => !gone && setFailed(words(error)),
    );
    return () => {
      gone = true;
    };
  }, [slug]);
  const doing = useCallback(async (work: () => Promise<MyLab>): Promise<boolean> => {
    setBusy(true);
    setFailed('');
    try {
      setMine(await work());
      return true;
    } catch (error) {
      setFailed(words(error));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  const answer = useCallback(
    (task: string, given: AnswerGiven, name: string) =>
      doing(() => labApi.answer(slug, task, given, name)),
    [doing, slug],
  );
  const forget = useCallback(async () => {
    await doing(async () => {
      await labApi.forgetMe();
      return labApi.mine(slug);
    });
  }, [doing, slug]);
  return { lab, mine, failed, busy, answer, forget };
}
