// SPDX-License-Identifier: GPL-2.0-or-later
/** The way from step to step: dots and two buttons. */

import { t } from '../base/lang/t.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { off } from '../ui/parts.tsx';

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
      aria-label={t('Steps')}
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
        aria-label={before ? t('Back to {title}', { title: before.title }) : t('Back')}
        data-testid="step-back"
        {...off(!before && t('This is the first step.'))}
      >
        {t('back')}
      </button>
      <ol>
        {lesson.scenes.map((s, i) => (
          <li key={s.id}>
            <button
              type="button"
              title={s.title}
              aria-label={t('Step {i}: {title}', { i: i + 1, title: s.title })}
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
        aria-label={
          after ? t('Next: {title}', { title: after.title }) : onEnd ? t('Recap') : t('Next')
        }
        data-testid="step-next"
        {...off(!after && !onEnd && t('This is the last step.'))}
      >
        {after || !onEnd ? t('next') : t('recap')}
      </button>
    </nav>
  );
}
