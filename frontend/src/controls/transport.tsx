// SPDX-License-Identifier: GPL-2.0-or-later
/** The footer of the page: play, step from beat to beat, speed, alignment, jumps, and the scrubber. */

import {
  type ComponentProps,
  type CSSProperties,
  type OutputHTMLAttributes,
  type ReactNode,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { locale, t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { operationsOfAll, together, unaligned } from '../derive/align.ts';
import { noDivergence, noLongWait, noMarker } from '../derive/jumps.ts';
import { isWait } from '../derive/query.ts';
import { axisSpeedWords, momentWords } from '../derive/retime.ts';
import type { Frames, RunIndex } from '../derive/types.ts';
import { nthOf } from '../navigation/navigation.ts';
import type { Align } from '../navigation/place.ts';
import type { Playback } from '../playback/hooks.tsx';
import { sliderOf, speedOf } from '../playback/machine.ts';
import type { Axis, Lesson, Scene } from '../protocol/lesson.ts';
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
import { chooseTheme } from '../ui/theme.ts';
import { Overview } from '../views/overview/index.tsx';
import { type Act, windowActs } from './keyboard.ts';

// The play and step buttons in one row. A page that is embedded in slides has fewer of them.

interface PlayProps {
  readonly moving: boolean;
  /** Whether playback runs backwards. */
  readonly backwards: boolean;
  readonly empty: boolean;
  /** The noun for one beat, such as "umount". */
  readonly beat: string;
  readonly onToggle: () => void;
  readonly onBeat: (by: 1 | -1) => void;
  /** Step from event to event. If `onEvent` or `onBackwards` is absent, the buttons for it are absent too. */
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

/**
 * The step and play buttons. Buttons that go backwards are on the left, and buttons that go forwards are on the right.
 */
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
          what={t('one event forward')}
          shown="shift, right arrow"
          testId="event-forward"
          empty={empty}
          onStep={() => onEvent(1)}
        >
          <EventForwardIcon />
        </StepButton>
      )}
      <StepButton
        what={t('one {beat} forward', { beat })}
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

// The readout of the moment. Like the playhead's label, the readout is updated in every painted frame.

interface MomentOutputProps extends Omit<OutputHTMLAttributes<HTMLOutputElement>, 'children'> {
  readonly axis: Axis | null;
  readonly frame: Frames;
}

export function MomentOutput({ axis, frame, ...more }: MomentOutputProps) {
  const output = useRef<HTMLOutputElement>(null);
  useLayoutEffect(() => {
    const write = () => {
      const words = momentWords(axis, frame.get().moment);
      if (output.current && output.current.textContent !== words)
        output.current.textContent = words;
    };
    write();
    return frame.subscribe(write);
  }, [axis, frame]);
  // A live region would interrupt a screen reader in every frame, so the readout is not a live region.
  // When playback stops, screen readers get the sentence instead.
  return <output ref={output} aria-live="off" data-testid="moment" data-volatile {...more} />;
}

interface TransportProps extends Required<PlayProps> {
  readonly frame: Frames;
  readonly speed: number;
  readonly align: Align;
  /** Whether the oscilloscope is on, which repeats the newest window. */
  readonly armed: boolean;
  readonly live: boolean;
  /** The noun for the operation at which lanes can be aligned, such as "umount". */
  readonly operation: string;
  /** The reason that lanes cannot be aligned by operations; null if they can. */
  readonly unaligned: string | null;
  /** Number of the operation at whose start the step aligns lanes; null if the step names none. */
  readonly nth: number | null;
  /**
   * Number of the operation at which lanes are aligned, from 1, and number of the last operation that every lane has
   * ended.
   */
  readonly at: { readonly n: number; readonly most: number };
  readonly onAt: (n: number) => void;
  /** What the axis counts; null if the axis shows guest time. */
  readonly axis: Axis | null;
  readonly overview: ReactNode;
  /** The reason that the scrubber and the text alternative are hidden; empty if they are visible. */
  readonly hidden: string;
  /** Number of lanes in the scrubber. */
  readonly lanes: number;
  readonly onSpeed: (speed: number) => void;
  readonly onAlign: (align: Align) => void;
  /** Jump to the next long wait; null if the lesson declares no waits. */
  readonly onLongWait: (() => void) | null;
  readonly onDivergence: () => void;
  /** The reasons that these jumps and the alignment are unavailable; empty if they are available. */
  readonly noLongWait: string;
  readonly noDivergence: string;
  readonly noMarker: string;
  /** Jump to the next loss of events; null if no events were lost. */
  readonly onLoss: (() => void) | null;
  readonly onScope: () => void;
  readonly onWords: () => void;
}

const plain: readonly Align[] = ['time', 'operation', 'marker'];
const withBegin: readonly Align[] = ['time', 'begin', 'operation'];

function alignWords(name: Align, { operation, axis, nth }: TransportProps): string {
  if (name === 'time') return axis?.plural ?? t('time');
  if (name === 'begin') return `${operation} ${nth}`;
  return name === 'operation' ? operation : t('marker');
}

const alignTitles: Partial<Record<Align, string>> = {
  marker: t('the first operation ends at the same moment on every lane'),
};

/**
 * A field for the number of the aligned operation. A typed number is applied as soon as every lane has an operation
 * with this number.
 */
function AtField({ at, operation, onAt }: Pick<TransportProps, 'at' | 'operation' | 'onAt'>) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input
      type="number"
      className="at-field"
      aria-label={t('{operation} to align at, 1 to {most}', { operation, most: at.most })}
      title={t(
        'the {operation} that happens at the same moment on every lane; every lane has {count}',
        {
          operation,
          count: at.most.toLocaleString(locale()),
        },
      )}
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

export function Transport(props: TransportProps) {
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
            title={t('to the first {unit} that differs between the lanes (d)', {
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

// The transport and the keyboard actions for playback. The lanes are those of one run, or of two runs side by side.

interface Given {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly index: RunIndex | null;
  readonly theme: Theme;
  readonly settled: boolean;
  readonly live: boolean;
  /** Whether the viewer must predict first. Until then, nothing on the page may reveal the answer. */
  readonly veiled?: boolean;
  /** Whether to hide everything that would answer the question of a later step. */
  readonly askedLater?: boolean;
  /** Whether the jump to the first divergence is unavailable, because a divergence compares lanes. */
  readonly uncounted?: boolean;
  /** The lesson with one title per lane, for the axis and the scrubber. */
  readonly lanesOf?: Lesson;
  readonly onWords: () => void;
}

const predictFirst = t('First say what you expect; this part is shown afterwards.');
export const askedSoon = t(
  'A later step asks for a prediction about the whole run. This part of the page is shown after that step.',
);

export function useTransport(playback: Playback, given: Given): ComponentProps<typeof Transport> {
  const { lesson, scene, index } = given;
  const { state } = playback;
  /** Align lanes at an operation, and go to the aligned moment. */
  const onAt = (n: number) => {
    const by = playback.state.alignment;
    const at = index && together(index, by, n).at;
    playback.align(by, n);
    if (at !== null) playback.seek(at);
  };
  return {
    moving: state.mode !== 'paused' && !state.veiled,
    backwards: state.direction < 0,
    frame: playback.frame,
    speed: state.speed,
    align: state.alignment,
    armed: given.live && state.mode === 'scope',
    live: given.live,
    empty: !given.settled,
    beat: lesson.beat?.name ?? lesson.operation.name,
    operation: lesson.operation.name,
    unaligned: unaligned(lesson),
    nth: scene.align === 'begin' ? scene.operation : null,
    at: { n: state.operation, most: index ? operationsOfAll(index) : 0 },
    onAt,
    axis: index?.axis ?? null,
    lanes: index?.lanes.length ?? 0,
    hidden: given.veiled ? predictFirst : '',
    overview: given.askedLater ? (
      <p className="small quiet">{askedSoon}</p>
    ) : (
      index &&
      !given.veiled && (
        <Overview
          runIndex={index}
          lesson={given.lanesOf ?? lesson}
          frame={playback.frame}
          theme={given.theme}
          onWindow={playback.setWindow}
          onView={playback.view}
          onSeek={playback.seek}
          moment={state.moment}
          words={momentWords(index.axis, state.moment)}
        />
      )
    ),
    onToggle: playback.toggle,
    onBackwards: playback.backwards,
    onEvent: playback.event,
    onBeat: playback.beat,
    onSpeed: playback.setSpeed,
    onAlign: (align) => playback.align(align, nthOf(align, scene), true),
    onLongWait: lesson.kinds.some(isWait) ? playback.nextLongWait : null,
    onDivergence: playback.firstDivergence,
    ...whyNot(given),
    onLoss: index?.lanes.some((lane) => lane.losses.length > 0) ? playback.nextLoss : null,
    onScope: playback.scope,
    onWords: given.onWords,
  };
}

/** The reason that each jump is unavailable; empty if the jump is available. */
function whyNot({ lesson, lanesOf = lesson, index, settled, veiled, uncounted }: Given) {
  if (index === null || !settled)
    return { noMarker: '', noLongWait: nothingYet, noDivergence: nothingYet };
  return {
    noMarker: noMarker(index, lesson),
    noLongWait: veiled ? predictFirst : noLongWait(index),
    noDivergence: veiled ? predictFirst : uncounted ? askedSoon : noDivergence(index, lanesOf),
  };
}

/** Keyboard actions that all pages with lanes have. */
export function playbackActs(playback: Playback, theme: Theme) {
  return {
    toggle: playback.toggle,
    backwards: playback.backwards,
    'beat-back': () => playback.beat(-1),
    'beat-on': () => playback.beat(1),
    'event-back': () => playback.event(-1),
    'event-on': () => playback.event(1),
    slower: () => playback.setSpeed(playback.now().speed / 1.5),
    faster: () => playback.setSpeed(playback.now().speed * 1.5),
    ...windowActs(playback),
    'long-wait': playback.nextLongWait,
    divergence: playback.firstDivergence,
    loss: playback.nextLoss,
    'align-time': () => playback.align('time'),
    'align-operation': () => playback.align('operation', undefined, true),
    'align-marker': () => playback.align('marker', undefined, true),
    theme: () => chooseTheme(theme.name === 'dark' ? 'light' : 'dark'),
  } satisfies Partial<Record<Act, () => void>>;
}
