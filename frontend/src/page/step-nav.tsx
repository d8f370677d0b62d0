// SPDX-License-Identifier: GPL-2.0-or-later
/** The way from step to step: dots and two buttons. */

import type { Lesson, Scene } from '../protocol/lesson.ts';
import { off } from '../ui/off.ts';

/** Arrows move between steps while the list has the focus. */
export function StepNav({
  lesson,
  scene,
  onStep,
  onEnd = null,
}: {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly onStep: (id: string) => void;
  readonly onEnd?: (() => void) | null | undefined;
}) {
  const at = lesson.scenes.indexOf(scene);
  const before = lesson.scenes[at - 1];
  const after = lesson.scenes[at + 1];
  return (
    <nav
      className="steps"
      aria-label="Steps"
      onKeyDown={(event) => {
        const to =
          event.key === 'ArrowRight' || event.key === 'ArrowDown'
            ? after
            : event.key === 'ArrowLeft' || event.key === 'ArrowUp'
              ? before
              : undefined;
        if (!to) return;
        event.preventDefault();
        event.stopPropagation();
        onStep(to.id);
      }}
    >
      <button
        type="button"
        className="button"
        onClick={() => before && onStep(before.id)}
        aria-label={before ? `Back to ${before.title}` : 'Back'}
        data-testid="step-back"
        {...off(!before && 'This is the first step.')}
      >
        back
      </button>
      <ol>
        {lesson.scenes.map((s, i) => (
          <li key={s.id}>
            <button
              type="button"
              title={s.title}
              aria-label={`Step ${i + 1}: ${s.title}`}
              aria-current={s === scene ? 'step' : undefined}
              onClick={() => onStep(s.id)}
            />
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="button"
        data-strong={after || onEnd ? '' : undefined}
        onClick={() => (after ? onStep(after.id) : onEnd?.())}
        aria-label={after ? `Next: ${after.title}` : onEnd ? 'Recap' : 'Next'}
        data-testid="step-next"
        {...off(!after && !onEnd && 'This is the last step.')}
      >
        {after || !onEnd ? 'next' : 'recap'}
      </button>
    </nav>
  );
}
