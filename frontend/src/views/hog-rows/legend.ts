// SPDX-License-Identifier: GPL-2.0-or-later
/** One swatch for each thing that the rows of a step can show. Pure. */

import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';

/** Parts of a step, and the kinds that they draw. */
const marksOf: Readonly<Record<string, string>> = {
  ...{ tick: 'ticks', tick_ended: 'ticks', cut_short: 'walks', gave_up: 'walks' },
};

/** `there`: kinds that the run has; null: not known yet, so those that the step speaks of. */
export function legend(
  lesson: Pick<Lesson, 'kinds'>,
  { focus, show }: Pick<Scene, 'focus' | 'show'>,
  there: ReadonlySet<string> | null,
): readonly Kind[] {
  const has = ({ name, always }: Kind) => there?.has(name) ?? (always || focus.includes(name));
  const drawn = lesson.kinds.filter((kind) => {
    switch (kind.layer) {
      case 'function':
        // The state already says what runs in a function; a hazard is drawn whatever the step speaks of.
        return (focus.includes(kind.name) || kind.colour === 'hazard') && has(kind);
      case 'track':
        return show.includes('tracks') && has(kind);
      case 'mark':
        return show.includes(marksOf[kind.name] ?? '');
      default:
        return has(kind);
    }
  });
  return [...drawn.filter((kind) => kind.lesson), ...drawn.filter((kind) => !kind.lesson)];
}
