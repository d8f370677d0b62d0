// SPDX-License-Identifier: GPL-2.0-or-later
/** The timer of a class: shown on every page, with buttons in the instructor's panel. */

import { type FormEvent, useEffect, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import type { Room, Timer } from './class-state.ts';
import type { Classroom } from './classroom.ts';

// The timer's text on screen and for screen readers. Pure.

/** Time for which a timer is still shown after it has run out, ms (TIMER_SEEN_S of limits.py). */
export const seenMs = 60_000;

export interface Face {
  /** The time left, for example `1:05`. */
  readonly text: string;
  readonly over: boolean;
  /** Share of the timer's duration that is left, 0 to 1. */
  readonly left: number;
  /** Text for screen readers, which changes only a few times. */
  readonly says: string;
}

/** What the timer shows; null if there is none, or if it ran out a while ago. */
export function faceOf(timer: Timer | null, nowMs: number): Face | null {
  if (timer === null || nowMs > timer.ends + seenMs) return null;
  const leftS = Math.ceil((timer.ends - nowMs) / 1000);
  if (leftS <= 0) return { text: '0:00', over: true, left: 0, says: t('Time is up.') };
  const text = `${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, '0')}`;
  const left = timer.length > 0 ? Math.min(1, (timer.ends - nowMs) / timer.length) : 0;
  return { text, over: false, left, says: saysOf(leftS, timer) };
}

function saysOf(leftS: number, timer: Timer): string {
  if (leftS <= 10) return t('Ten seconds are left.');
  if (leftS <= 60 && timer.length > 60_000) return t('One minute is left.');
  return t('A timer runs: {length}.', { length: lengthWords(Math.round(timer.length / 1000)) });
}

/** Format a duration: `5 minutes`, `90 seconds`. */
export function lengthWords(seconds: number): string {
  return seconds % 60 === 0
    ? t('{seconds, plural, one {# minute} other {# minutes}}', { seconds: seconds / 60 })
    : t('{seconds, plural, one {# second} other {# seconds}}', { seconds });
}

/** Update interval, ms; short enough that no second is skipped. */
const everyMs = 250;
/** Maximum duration of a timer (TIMER_S of plugins/classroom/messages.py), min. */
const mostMin = 60;
const usual = [1, 2, 3, 5] as const;

function useFace(timer: Timer | null) {
  const [now, setNow] = useState(() => performance.now());
  const face = faceOf(timer, Math.max(now, performance.now()));
  const runs = face !== null;
  useEffect(() => {
    if (!runs) return undefined;
    const clock = setInterval(() => setNow(performance.now()), everyMs);
    return () => clearInterval(clock);
  }, [runs]);
  return face;
}

interface Props {
  readonly classroom: Classroom;
  readonly room: Room;
}

export function TimerChip({ classroom, room }: Props) {
  const face = useFace(room.board.timer);
  return (
    <>
      <span className="hidden-text" role="status" data-testid="class-timer-says">
        {face?.says}
      </span>
      {face !== null && (
        <div
          className="class-chip class-timer"
          data-over={face.over ? '' : undefined}
          data-volatile
          data-testid="class-timer"
        >
          <b className="number" role="timer" aria-label={t('{time} left', { time: face.text })}>
            {face.over ? t('Time is up') : face.text}
          </b>
          {!face.over && (
            <span className="meter">
              <span style={{ width: `${100 * face.left}%` }} />
            </span>
          )}
          {room.part === 'instructor' && <TimerButtons classroom={classroom} />}
        </div>
      )}
    </>
  );
}

function TimerButtons({ classroom }: Pick<Props, 'classroom'>) {
  return (
    <span className="class-buttons">
      <button
        type="button"
        className="button"
        onClick={() => classroom.countDown('extend')}
        data-testid="class-timer-more"
      >
        {t('1 min more')}
      </button>
      <button
        type="button"
        className="button"
        onClick={() => classroom.countDown('stop')}
        data-testid="class-timer-stop"
      >
        {t('stop')}
      </button>
    </span>
  );
}

/** The timer's buttons in the instructor's panel. */
export function TimerForm({ classroom }: Pick<Props, 'classroom'>) {
  const [minutes, setMinutes] = useState('');
  const given = Number(minutes.replace(',', '.'));
  const fits = given > 0 && given <= mostMin;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fits) classroom.countDown('start', Math.max(1, Math.round(given * 60)));
  };
  return (
    <form className="class-buttons class-timer-form" onSubmit={submit}>
      {usual.map((min) => (
        <button
          key={min}
          type="button"
          className="button"
          onClick={() => classroom.countDown('start', min * 60)}
          data-testid={`class-timer-${min}`}
        >
          {t('{min} min', { min })}
        </button>
      ))}
      <label>
        <span className="hidden-text">{t('Minutes, at most {most}', { most: mostMin })}</span>
        <input
          inputMode="decimal"
          placeholder={t('min')}
          maxLength={5}
          value={minutes}
          aria-invalid={minutes !== '' && !fits}
          onChange={(event) => setMinutes(event.target.value)}
          data-testid="class-timer-minutes"
        />
      </label>
      <button type="submit" className="button">
        {t('start')}
      </button>
    </form>
  );
}
