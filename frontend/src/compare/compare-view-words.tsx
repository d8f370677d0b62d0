// SPDX-License-Identifier: GPL-2.0-or-later
/** The lanes of two runs in words: the window of each, the same arm's one after the other. */

import { rich, t } from '../base/lang/t.ts';
import { type Side, sides } from '../derive/pair.ts';
import { momentWords } from '../derive/retime.ts';
import { pickLanes } from '../derive/run-index.ts';
import type { FrameSource } from '../derive/types.ts';
import type { Playback } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { viewOf } from '../views/registry.ts';
import type { Runs } from './runs.ts';

interface Props {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly runs: Runs;
  readonly frames: Readonly<Record<Side, FrameSource>>;
  readonly playback: Playback;
  readonly onClose: () => void;
}

export function CompareWords({ lesson, arms, runs, frames, playback, onClose }: Props) {
  const axis = runs.index('first')?.axis ?? null;
  const sentences = (side: Side, arm: string) => {
    const index = runs.index(side);
    if (index === null) return [];
    return viewOf(lesson.view).summary(pickLanes(index, [arm]), frames[side].get(), lesson);
  };
  return (
    <section className="words" aria-label={t('The lanes in words')} data-testid="words">
      <header>
        <p className="eyebrow">
          {rich('In words, at <span>{axis}</span>', {
            axis: momentWords(axis, playback.state.moment),
            span: (words) => <span className="number">{words}</span>,
          })}
        </p>
        <button type="button" className="link" onClick={onClose}>
          {t('close')}
        </button>
      </header>
      <ul className="summary" data-volatile>
        {arms.flatMap((arm) =>
          sides.map((side) => (
            <li key={`${side} ${arm}`}>
              <b>{side}:</b> {sentences(side, arm).join(' ')}
            </li>
          )),
        )}
      </ul>
    </section>
  );
}
