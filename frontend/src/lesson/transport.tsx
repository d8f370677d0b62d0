// SPDX-License-Identifier: GPL-2.0-or-later
/** The footer: play, step by beat, speed in words, alignment, jumps, and the overview to scrub in. */

import type { CSSProperties, ReactNode } from 'react';
import { axisSpeedWords, momentWords } from '../derive/retime.ts';
import { sliderOf, speedOf } from '../derive/speed.ts';
import type { Axis } from '../protocol/lesson.ts';
import { BackIcon, ForwardIcon, PauseIcon, PlayIcon } from '../ui/icons.tsx';
import type { Align } from './place.ts';

interface Props {
  readonly moving: boolean;
  readonly moment: number;
  readonly speed: number;
  readonly align: Align;
  /** The oscilloscope: play the newest episode again and again. */
  readonly armed: boolean;
  readonly live: boolean;
  readonly empty: boolean;
  /** "umount": one beat is one of these. */
  readonly beat: string;
  /** "umount": lanes can be aligned by it. */
  readonly operation: string;
  /** Which operation `begin` aligns at; null: the step does not speak of one. */
  readonly nth: number | null;
  /** What the axis counts; null: guest time. */
  readonly axis: Axis | null;
  readonly overview: ReactNode;
  /** How many lanes the overview has to hold. */
  readonly lanes: number;
  readonly onToggle: () => void;
  readonly onBeat: (by: 1 | -1) => void;
  readonly onSpeed: (speed: number) => void;
  readonly onAlign: (align: Align) => void;
  /** Null where nothing of the lesson waits. */
  readonly onLongWait: (() => void) | null;
  readonly onDivergence: () => void;
  readonly onScope: () => void;
  readonly onWords: () => void;
}

const plain: readonly Align[] = ['time', 'operation', 'marker'];
const withBegin: readonly Align[] = ['time', 'begin', 'operation'];

function alignWords(name: Align, { operation, axis, nth }: Props): string {
  if (name === 'time') return axis?.plural ?? 'time';
  if (name === 'begin') return `${operation} ${nth}`;
  return name === 'operation' ? operation : name;
}

export function Transport(props: Props) {
  const { moving, moment, speed, align, armed, live, empty, beat, nth } = props;
  return (
    <footer className="transport" data-testid="transport">
      <div className="transport-left">
        <div className="transport-buttons">
          <button
            type="button"
            className="button"
            data-icon
            disabled={empty}
            onClick={() => props.onBeat(-1)}
            aria-label={`One ${beat} back`}
            title={`one ${beat} back (left arrow)`}
            data-testid="beat-back"
          >
            <BackIcon />
          </button>
          <button
            type="button"
            className="button play"
            data-icon
            disabled={empty}
            onClick={props.onToggle}
            aria-label={moving ? 'Pause' : 'Play'}
            title={moving ? 'pause (space)' : 'play (space)'}
            data-testid="play"
          >
            {moving ? <PauseIcon /> : <PlayIcon />}
          </button>
          <button
            type="button"
            className="button"
            data-icon
            disabled={empty}
            onClick={() => props.onBeat(1)}
            aria-label={`One ${beat} on`}
            title={`one ${beat} on (right arrow)`}
            data-testid="beat-forward"
          >
            <ForwardIcon />
          </button>
          <output className="moment number" aria-label="Moment" data-testid="moment" data-volatile>
            {momentWords(props.axis, moment)}
          </output>
        </div>
        <label className="speed">
          <span className="hidden-text">Speed</span>
          <input
            type="range"
            min="0"
            max="1"
            step="any"
            value={sliderOf(speed)}
            aria-valuetext={axisSpeedWords(props.axis, speed)}
            onChange={(e) => props.onSpeed(speedOf(Number(e.target.value)))}
            data-testid="speed"
          />
          <span className="small quiet number" data-testid="speed-words">
            {axisSpeedWords(props.axis, speed)}
          </span>
        </label>
      </div>
      <div
        className="transport-overview"
        data-testid="overview"
        style={{ '--lanes': props.lanes } as CSSProperties}
      >
        {props.overview}
      </div>
      <div className="transport-right">
        <div className="align-row">
          <span className="small quiet">align by</span>
          <fieldset className="segments" aria-label="Align lanes by">
            {(nth === null ? plain : withBegin).map((name) => (
              <button
                key={name}
                type="button"
                className="button"
                aria-pressed={align === name}
                onClick={() => props.onAlign(name)}
                data-testid={`align-${name}`}
              >
                {alignWords(name, props)}
              </button>
            ))}
          </fieldset>
        </div>
        <div className="jump-row">
          {props.onLongWait && (
            <button
              type="button"
              className="button"
              disabled={empty}
              onClick={props.onLongWait}
              data-testid="long-wait"
            >
              next long wait
            </button>
          )}
          <button
            type="button"
            className="button"
            disabled={empty}
            onClick={props.onDivergence}
            data-testid="divergence"
          >
            first divergence
          </button>
          {live && (
            <button
              type="button"
              className="button"
              aria-pressed={armed}
              onClick={props.onScope}
              title="play the newest episode, then wait for the next (r)"
              data-testid="rearm"
            >
              re-arm
            </button>
          )}
          <button
            type="button"
            className="button"
            onClick={props.onWords}
            title="the picture in words (w)"
            data-testid="in-words"
          >
            in words
          </button>
        </div>
      </div>
    </footer>
  );
}
