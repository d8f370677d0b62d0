// SPDX-License-Identifier: GPL-2.0-or-later
/** What a member points at in the picture is his answer in the class: the first try of each round. */

import { useEffect, useRef } from 'react';
import type { Mark } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { answerKey, isOpen, keyOf } from './class-state.ts';
import { useRoom } from './hooks.tsx';
import { markFields, partsOf, pointId } from './pointing.ts';

const stage = '[data-testid="stage"] .lanes-canvas';

export function usePointClass(
  lesson: Pick<Lesson, 'questions'>,
): (question: number, mark: Mark, right: boolean) => void {
  const { classroom, room } = useRoom();
  const last = useRef<{ x: number; y: number } | null>(null);
  useEffect(() => {
    const note = ({ clientX, clientY }: PointerEvent) => {
      last.current = { x: clientX, y: clientY };
    };
    addEventListener('pointerdown', note, { capture: true, passive: true });
    return () => removeEventListener('pointerdown', note, { capture: true });
  }, []);
  return (number, mark, right) => {
    const step = lesson.questions[number]?.step;
    if (classroom === null || !isOpen(room) || room.part !== 'member' || step === undefined) return;
    const of = { step, question: pointId(number) };
    const asked = room.questions.get(keyOf(of));
    const round = asked?.round ?? 1;
    if (asked?.revealed || room.answers.has(answerKey(of, round))) return;
    const box = document.querySelector(stage)?.getBoundingClientRect();
    // By keys nobody points: then the middle of the picture stands for the place.
    const parts = box && last.current ? partsOf(box, last.current) : { x: 0.5, y: 0.5 };
    classroom.answer({ ...of, round, mark: markFields(mark, parts), right });
  };
}
