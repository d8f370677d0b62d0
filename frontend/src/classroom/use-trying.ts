// SPDX-License-Identifier: GPL-2.0-or-later
/** What a member may try in the step on show, and trying it. */

import type { ClassOpened } from './class-state.ts';
import type { Command } from './commands.ts';
import { useRoom } from './hooks.tsx';
import { openedAt } from './tries.ts';

type Run = Omit<Command<'class_try'>, 'step' | 'lesson'>;

export interface Trying {
  readonly step: ClassOpened['steps'][number];
  /** Whoever tries explores from then on. */
  readonly attempt: (run: Run) => void;
}

/** Null: this page is no member's, or the instructor has not opened the step. */
export function useTrying(lesson: string, step: string): Trying | null {
  const { classroom, room, open } = useRoom();
  const opened = openedAt(room, lesson, step);
  if (classroom === null || !open || room?.part !== 'member' || opened === null) return null;
  return {
    step: opened,
    attempt: (run) => {
      classroom.detach();
      classroom.attempt({ lesson, step, ...run });
    },
  };
}
