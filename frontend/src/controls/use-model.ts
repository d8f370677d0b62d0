// SPDX-License-Identifier: GPL-2.0-or-later
/** Writes the knobs of the page's model to the store. The index reads these knobs from the store. */

import { useLayoutEffect } from 'react';
import { type Knobs, modelParams } from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useStore } from '../store/hooks.tsx';

export function useModel(lesson: Lesson, knobs: Knobs): void {
  const store = useStore();
  const values = modelParams(lesson, knobs);
  const key = JSON.stringify(values);
  // This effect must run before other effects, because the place where a step opens depends on the step's knobs.
  useLayoutEffect(() => {
    store.setModel(JSON.parse(key));
  }, [store, key]);
}
