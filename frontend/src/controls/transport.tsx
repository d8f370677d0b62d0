// SPDX-License-Identifier: GPL-2.0-or-later
/** The footer: play, step by beat, speed in words, alignment, jumps, and the overview to scrub in. */

import { type CSSProperties, type ReactNode, useId, useState } from 'react';
import { locale, t } from '../base/lang/t.ts';
import { axisSpeedWords } from '../derive/retime.ts';
import type { Frames } from '../derive/types.ts';
import type { Align } from '../navigation/place.ts';
import { sliderOf, speedOf } from '../playback/machine.ts';
import type { Axis } from '../protocol/lesson.ts';
import { off } from '../ui/parts.tsx';
import { MomentOutput } from './moment-output.tsx';
import { PlayButtons, type PlayProps } from './play-buttons.tsx';

interface Props extends Required<PlayProps> {
  readonly frame: Frames;
  readonly speed: number;
  readonly align: Align;
  /** The oscilloscope: play the newest episode again and again. */
  readonly armed: boolean;
  readonly live: boolean;
  /** "umount": lanes can be aligned by it. */
  readonly operation: string;
  /** Why they cannot; null: they can. */
  readonly unaligned: string | null;
  /** Which operation `begin` aligns at; null: the step does not speak of one. */
  readonly nth: number | null;
  /** The operation that lanes are aligned at now, from 1, and the last that every lane has. */
  readonly at: { readonly n: number; readonly most: number };
  readonly onAt: (n: number) => void;
  /** What the axis counts; null: guest time. */
  readonly axis: Axis | null;
  readonly overview: ReactNode;
  /** Why the overview and the picture's words are hidden; empty: they are not. */
  readonly hidden: string;
  /** How many lanes the overview has to hold. */
  readonly lanes: number;
  readonly onSpeed: (speed: number) => void;
  readonly onAlign: (align: Align) => void;
  /** Null where nothing of the lesson waits. */
  readonly onLongWait: (() => void) | null;
  readonly onDivergence: () => void;
  /** Why there is nothing to go to, or to align by; empty: there is. */
  readonly noLongWait: string;
  readonly noDivergence: string;
  readonly noMarker: string;
  /** Null where nothing was lost. */
  readonly onLoss: (() => void) | null;
  readonly onScope: () => void;
  readonly onWords: () => void;
}

const plain: readonly Align[] = ['time', 'operation', 'marker'];
const withBegin: readonly Align[] = ['time', 'begin', 'operation'];

function alignWords(name: Align, { operation, axis, nth }: Props): string {
  if (name === 'time') return axis?.plural ?? t('time');
  if (name === 'begin') return `${operation} ${nth}`;
  return name === 'operation' ? operation : t('marker');
}

const alignTitles: Partial<Record<Align, string>> = {
  marker: t('the first operation of every lane ends at once'),
};

/** Which operation the lanes are aligned at: a number, written when it is a whole one that every lane has. */
function AtField({ at, operation, onAt }: Pick<Props, 'at' | 'operation' | 'onAt'>) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input
      type="number"
      className="at-field"
      aria-label={t('{operation} to align at, 1 to {most}', { operation, most: at.most })}
      title={t('the {operation} that happens on every lane at once; all have {count}', {
        operation,
        count: at.most.toLocaleString(locale()),
      })}
      min={1}
      max={Math.max(1, at.most)}
      value={draft ?? at.n}
      onChange={(event) => {
        const { value } = event.target;
        const n = Number(value);
        const fits = Number.isInteger(n) && n >= 1 && n <= at.most;
        setDraft(fits ? null : value);
        if (fits) onAt(n);
      }}
      onBlur={() => setDraft(null)}
      data-testid="align-at"
    />
  );
}

export function Transport(props: Props) {
  const { speed, align, armed, live, nth, unaligned } = props;
  const [more, setMore] = useState(false);
  const tools = useId();
  return (
    <footer className="transport" data-more={more ? '' : undefined} data-testid="transport">
      <div className="transport-left">
        <div className="transport-buttons">
          <PlayButtons {...props} />
          <MomentOutput
            className="moment number"
            aria-label={t('Moment')}
            axis={props.axis}
            frame={props.frame}
          />
        </div>
        <label className="speed">
          <span className="hidden-text">{t('Speed')}</span>
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
        {props.hidden === '' ? props.overview : <p className="small quiet">{props.hidden}</p>}
      </div>
      <button
        type="button"
        className="button transport-more"
        aria-expanded={more}
        aria-controls={tools}
        onClick={() => setMore(!more)}
        data-testid="transport-more"
      >
        {more ? t('less') : t('more')}
      </button>
      <div className="transport-right" id={tools}>
        <div className="align-row">
          <span className="small quiet">{t('align by')}</span>
          <fieldset className="segments" aria-label={t('Align lanes by')}>
            {(nth === null ? plain : withBegin).map((name) => (
              <button
                key={name}
                type="button"
                className="button"
                aria-pressed={align === name}
                title={name === 'time' ? undefined : alignTitles[name]}
                onClick={() => props.onAlign(name)}
                data-testid={`align-${name}`}
                {...off(name !== 'time' && (unaligned || (name === 'marker' && props.noMarker)))}
              >
                {alignWords(name, props)}
              </button>
            ))}
          </fieldset>
          {(align === 'operation' || align === 'begin') && <AtField {...props} />}
        </div>
        <div className="jump-row">
          {props.onLongWait && (
            <button
              type="button"
              className="button"
              onClick={props.onLongWait}
              data-testid="long-wait"
              {...off(props.noLongWait)}
            >
              {t('next long wait')}
            </button>
          )}
          <button
            type="button"
            className="button"
            onClick={props.onDivergence}
            title={t('to where the lanes part, and in what: the first {unit} that differs (d)', {
              unit: props.axis?.unit ?? props.operation,
            })}
            data-testid="divergence"
            {...off(props.noDivergence)}
          >
            {t('first divergence')}
          </button>
          {props.onLoss && (
            <button type="button" className="button" onClick={props.onLoss} data-testid="next-loss">
              {t('next loss')}
            </button>
          )}
          {live && (
            <button
              type="button"
              className="button"
              aria-pressed={armed}
              onClick={props.onScope}
              title={t('play the newest episode, then wait for the next (r)')}
              data-testid="rearm"
            >
              {t('re-arm')}
            </button>
          )}
          <button
            type="button"
            className="button"
            onClick={props.onWords}
            title={t('the picture in words (w)')}
            data-testid="in-words"
            {...off(props.hidden)}
          >
            {t('in words')}
          </button>
        </div>
      </div>
    </footer>
  );
}
