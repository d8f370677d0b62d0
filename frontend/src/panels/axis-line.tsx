// SPDX-License-Identifier: GPL-2.0-or-later
/** What the common axis of the lanes counts, and by what they are aligned: a line under them. */

import { t } from '../base/lang/t.ts';
import { axisWords } from '../derive/align.ts';
import type { RunIndex } from '../derive/types.ts';
import type { Playback } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';

interface Props {
  readonly lesson: Lesson;
  readonly index: RunIndex | null;
  readonly playback: Playback;
}

export function AxisLine({ lesson, index, playback }: Props) {
  if (index === null) return null;
  const { title } = axisWords(index, playback.frame.get(), lesson);
  return (
    <p className="axis-line small quiet" data-testid="axis-line">
      {t('axis: {title}', { title })}
    </p>
  );
}
