// SPDX-License-Identifier: GPL-2.0-or-later
/** Pointing in a class: questions that are answered in the picture, and the leader's spotlight. */

import { useEffect, useRef, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import type { LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { OpTable, SpanTable } from '../../store/tables.ts';
import type { Spotlight } from '../../views/contract.ts';
import { answerKey, type ClassPlace, isOpen, keyOf, type TallyRound } from './class-state.ts';
import { useRoom } from './hooks.tsx';

// The leader's spotlight: conversion of a mark for sending, and back to a mark of a run. Pure.

export type Spot = NonNullable<ClassPlace['spotlight']>;

/** Time for which the spotlight is shown, ms. */
const spotMs = 10_000;

export function spotOf(mark: Mark): Spot {
  return { arm: mark.arm, row: mark.row, t_ns: mark.t0 };
}

function found(table: SpanTable | OpTable, { row, t_ns }: Spot): number {
  for (let i = 0; i < table.length; i += 1)
    if (table.row[i] === row && table.t0[i] === t_ns) return i;
  return -1;
}

/**
 * The span or operation to which the spotlight points. Null if the spotlight is on a whole lane, or if the run has no
 * such mark.
 */
export function markAt(index: RunIndex | null, spot: Spot): Mark | null {
  if (spot.row === null || spot.t_ns === null) return null;
  const lane = index?.lanes.find(({ arm }) => arm === spot.arm);
  return lane === undefined ? null : (spanAt(lane, spot) ?? opAt(lane, spot));
}

function spanAt({ arm, spans }: LaneIndex, spot: Spot): Mark | null {
  const i = found(spans, spot);
  if (i < 0) return null;
  return { ...base(arm, spans, i), table: 'spans', kind: spans.kind[i]! };
}

function opAt({ arm, ops }: LaneIndex, spot: Spot): Mark | null {
  const i = found(ops, spot);
  return i < 0 ? null : { ...base(arm, ops, i), table: 'ops', kind: 0 };
}

function base(arm: string, table: SpanTable | OpTable, i: number): Omit<Mark, 'table' | 'kind'> {
  const [t0, t1] = [table.t0[i] as Mark['t0'], table.t1[i] as Mark['t1']];
  return { arm, id: table.id[i]!, row: table.row[i]!, t0, t1 };
}

// Questions of a lesson that a class answers by pointing at the picture. Pure.

type Pointed = TallyRound['marks'][number];
type Questions = Pick<Lesson, 'questions'>;

const form = /^point-(\d{1,3})$/;

/** The id of a lesson's question in class messages. The number in the id counts from 1. */
export function pointId(question: number): string {
  return `point-${question + 1}`;
}

/** Index of the lesson's question that an id names; null if it names none. */
export function pointOf({ questions }: Questions, id: string): number | null {
  const number = Number(form.exec(id)?.[1] ?? Number.NaN);
  return questions[number - 1] === undefined ? null : number - 1;
}

/** Indices of a step's questions within the lesson. */
export function pointsOf({ questions }: Questions, step: string): readonly number[] {
  return questions.flatMap((one, i) => (one.step === step ? [i] : []));
}

/** A position as fractions of a box, 0 to 1, clamped to its edges. */
export function partsOf(
  box: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  },
  at: { readonly x: number; readonly y: number },
): { readonly x: number; readonly y: number } {
  const part = (value: number, from: number, length: number) =>
    length > 0 ? Math.min(1, Math.max(0, (value - from) / length)) : 0.5;
  return { x: part(at.x, box.left, box.width), y: part(at.y, box.top, box.height) };
}

/** Convert a mark to the fields that are sent to the class. */
function markFields(mark: Mark, parts: { readonly x: number; readonly y: number }): Pointed {
  const { arm, row, t_ns } = spotOf(mark);
  return { ...parts, arm, row, t_ns };
}

/**
 * The number and mean position of the marks in each cell of the picture that contains marks. Cells with fewer marks
 * come first.
 */
export function heatOf(
  marks: readonly Pick<Pointed, 'x' | 'y'>[],
  columns = 48,
  rows = 24,
): readonly { readonly x: number; readonly y: number; readonly count: number }[] {
  const cells = new Map<string, { x: number; y: number; count: number }>();
  for (const { x, y } of marks) {
    const [column, row] = [
      Math.min(columns - 1, Math.floor(x * columns)),
      Math.min(rows - 1, Math.floor(y * rows)),
    ];
    const key = `${column} ${row}`;
    const cell = cells.get(key) ?? { x: 0, y: 0, count: 0 };
    const count = cell.count + 1;
    // A cell's position is the mean position of its marks, not the centre of the cell.
    cells.set(key, { x: cell.x + (x - cell.x) / count, y: cell.y + (y - cell.y) / count, count });
  }
  return [...cells.values()].sort((a, b) => a.count - b.count);
}

// The spotlight of a class: the leader selects a mark or a lane, and every page shows it for ten seconds.

/** The spotlight received from the leader; null once its time is over. */
function useReceived(spot: Spot | null, stands: boolean): Spot | null {
  const text = JSON.stringify(spot);
  const [over, setOver] = useState('');
  useEffect(() => {
    // The spotlight has changed or is gone, so an earlier spotlight can appear again.
    setOver('');
    if (!stands) return undefined;
    const timer = setTimeout(() => setOver(text), spotMs);
    return () => clearTimeout(timer);
  }, [text, stands]);
  return over === text ? null : spot;
}

export function useSpotlight(index: RunIndex | null) {
  const { room, driving, open } = useRoom();
  const [own, setOwn] = useState<Spot | null>(null);
  const [picking, setPicking] = useState(false);
  useEffect(() => {
    if (own === null) return undefined;
    const timer = setTimeout(() => setOwn(null), spotMs);
    return () => clearTimeout(timer);
  }, [own]);
  useEffect(() => {
    if (driving) return;
    setOwn(null);
    setPicking(false);
  }, [driving]);
  const sent = !driving && open ? (room?.place?.spotlight ?? null) : null;
  const received = useReceived(sent, sent !== null);
  const spot = driving ? own : received;
  const shown: Spotlight | null = spot && { arm: spot.arm, mark: markAt(index, spot) };
  return {
    spot: own,
    spotlight: shown,
    picking,
    setPicking,
    /** Put the spotlight on a lane; null switches it off. */
    light: (arm: string | null) => {
      setPicking(false);
      setOwn(arm === null ? null : { arm, row: null, t_ns: null });
    },
    /** Put the spotlight on a clicked mark. Returns false if the leader is not choosing a mark for the spotlight. */
    pick: (mark: Mark | null): boolean => {
      if (!picking || mark === null) return false;
      setPicking(false);
      setOwn(spotOf(mark));
      return true;
    },
  };
}

// Sends a member's prediction on the page to the class as their answer.

/** @returns a function that takes a choice and whether it is right (null if not known yet) */
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

// Sends the mark that a member points at to the class as their answer. Only the first attempt of each round counts.

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
    // A mark selected by keyboard has no position, so the centre of the picture is used.
    const parts = box && last.current ? partsOf(box, last.current) : { x: 0.5, y: 0.5 };
    classroom.answer({ ...of, round, mark: markFields(mark, parts), right });
  };
}

// Discs over the picture where the class has pointed. A disc is larger and darker if more people pointed there.

const least = 18;
const most = 64;

/** @param shown key of the question whose answers are shown; null for none */
export function PointMap({ shown }: { readonly shown: string | null }) {
  const { room } = useRoom();
  const rounds = (shown !== null && room?.tallies.get(shown)?.rounds) || [];
  const last = rounds.at(-1);
  if (last === undefined || last.marks.length === 0) return null;
  const cells = heatOf(last.marks);
  const top = Math.max(...cells.map(({ count }) => count));
  return (
    <ol className="point-map" aria-label={t('Where the class pointed')} data-testid="point-map">
      {cells.map(({ x, y, count }) => {
        const size = least + (most - least) * Math.sqrt((count - 1) / Math.max(1, top - 1));
        return (
          <li
            key={`${x} ${y}`}
            style={{ left: `${100 * x}%`, top: `${100 * y}%`, width: size, height: size }}
          >
            {count > 1 && count}
          </li>
        );
      })}
    </ol>
  );
}
