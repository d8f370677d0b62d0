// SPDX-License-Identifier: GPL-2.0-or-later
/** What a class contributes to a lesson page. */

import { useState } from 'react';
import type { RunIndex } from '../../derive/types.ts';
import type { InLesson, PageNow } from '../../plugins.tsx';
import { type InClass, useInClass } from './driver.ts';
import { PointMap } from './pointing.tsx';

export interface ClassLesson extends InLesson {
  readonly inClass: InClass;
  /** Key of the question whose answers are drawn as discs over the picture; null if no answers are drawn. */
  readonly shown: string | null;
  readonly show: (key: string | null) => void;
}

export function useClassLesson(page: PageNow, index: RunIndex | null): ClassLesson {
  const [shown, show] = useState<string | null>(null);
  const inClass = useInClass(page, index);
  const { spotlight, pick } = inClass;
  return { inClass, spotlight, pick, shown, show, over: <PointMap shown={shown} /> };
}
