// SPDX-License-Identifier: GPL-2.0-or-later
/** What a member predicts in the page is his answer in the class. */

import type { Scene } from '../protocol/lesson.ts';
import { isOpen, keyOf } from './class-state.ts';
import { useRoom } from './hooks.tsx';

/** @returns takes a choice and whether it is right, null: nobody knows yet */
export function useAnswerClass(
  scene: Pick<Scene, 'id' | 'predict'>,
): (choice: number, right: boolean | null) => void {
  const { classroom, room } = useRoom();
  return (choice, right) => {
    const question = scene.predict ?? '';
    if (classroom === null || !isOpen(room) || room.part !== 'member' || question === '') return;
    const asked = room.questions.get(keyOf({ step: scene.id, question }));
    if (asked?.revealed) return;
    const round = asked?.round ?? 1;
    classroom.answer({ step: scene.id, question, round, choice, right });
  };
}
