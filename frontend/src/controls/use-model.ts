// SPDX-License-Identifier: GPL-2.0-or-later
/** Knobs of a model on the page go to the store, where what is made of a run is made. */

import { useLayoutEffect } from 'react';
import { type Knobs, modelParams } from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useStore } from '../store/hooks.tsx';

export function useModel(lesson: Lesson, knobs: Knobs): void {
  const store = useStore();
  const values = modelParams(lesson, knobs);
  const key = JSON.stringify(values);
  // Before the effects of the same change: where a step opens hangs on its knobs.
  useLayoutEffect(() => {
    store.setModel(JSON.parse(key));
  }, [store, key]);
}
