// SPDX-License-Identifier: GPL-2.0-or-later
/** Play and its steps: one row for the whole page and, with fewer buttons, for a frame in slides. */

import type { ReactNode } from 'react';
import { t } from '../base/lang/t.ts';
import {
  BackIcon,
  EventBackIcon,
  EventForwardIcon,
  ForwardIcon,
  nothingYet,
  off,
  PauseIcon,
  PlayBackIcon,
  PlayIcon,
} from '../ui/parts.tsx';

export interface PlayProps {
  readonly moving: boolean;
  /** It moves backwards. */
  readonly backwards: boolean;
  readonly empty: boolean;
  /** "umount": one beat is one of these. */
  readonly beat: string;
  readonly onToggle: () => void;
  readonly onBeat: (by: 1 | -1) => void;
  /** Without it there are no such buttons; and so for the next. */
  readonly onEvent?: (by: 1 | -1) => void;
  readonly onBackwards?: () => void;
}

function StepButton({
  what,
  shown,
  testId,
  empty,
  onStep,
  children,
}: {
  readonly what: string;
  readonly shown: string;
  readonly testId: string;
  readonly empty: boolean;
  readonly onStep: () => void;
  readonly children: ReactNode;
}) {
  return (
    <button
      type="button"
      className="button"
      data-icon
      onClick={onStep}
      aria-label={what.charAt(0).toUpperCase() + what.slice(1)}
      title={`${what} (${shown})`}
      data-testid={testId}
      {...off(empty && nothingYet)}
    >
      {children}
    </button>
  );
}

/** Steps and play, the way back on the left and the way on to the right. */
export function PlayButtons(props: PlayProps) {
  const { moving, backwards, empty, beat, onBeat, onEvent, onBackwards } = props;
  const back = moving && backwards;
  const on = moving && !backwards;
  return (
    <>
      <StepButton
        what={t('one {beat} back', { beat })}
        shown="left arrow"
        testId="beat-back"
        empty={empty}
        onStep={() => onBeat(-1)}
      >
        <BackIcon />
      </StepButton>
      {onEvent && (
        <StepButton
          what={t('one event back')}
          shown="shift, left arrow"
          testId="event-back"
          empty={empty}
          onStep={() => onEvent(-1)}
        >
          <EventBackIcon />
        </StepButton>
      )}
      {onBackwards && (
        <StepButton
          what={back ? t('pause') : t('play backwards')}
          shown="b"
          testId="play-back"
          empty={empty}
          onStep={onBackwards}
        >
          {back ? <PauseIcon /> : <PlayBackIcon />}
        </StepButton>
      )}
      <button
        type="button"
        className="button play"
        data-icon
        onClick={props.onToggle}
        aria-label={on ? t('Pause') : t('Play')}
        title={on ? t('pause (space)') : t('play (space)')}
        data-testid="play"
        {...off(empty && nothingYet)}
      >
        {on ? <PauseIcon /> : <PlayIcon />}
      </button>
      {onEvent && (
        <StepButton
          what={t('one event on')}
          shown="shift, right arrow"
          testId="event-forward"
          empty={empty}
          onStep={() => onEvent(1)}
        >
          <EventForwardIcon />
        </StepButton>
      )}
      <StepButton
        what={t('one {beat} on', { beat })}
        shown="right arrow"
        testId="beat-forward"
        empty={empty}
        onStep={() => onBeat(1)}
      >
        <ForwardIcon />
      </StepButton>
    </>
  );
}
